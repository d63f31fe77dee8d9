// @ts-check
// The connection: requests with numbers, answers to the newest of each kind only, and a new
// connection when one is lost. Frames are a JSON header and arrays of float32 (see messages.py). Where there is no
// server, as on a web host, the page's own engine answers in its place.

import { recall, remember } from "./storage.js";

/** Whether the page has to do by itself. */
export const isAlone = document.documentElement.dataset.engine === "page";

const token = new URLSearchParams(location.search).get("token") ?? "";
// A request that is still at work after so many milliseconds is overtaken by a newer one.
const PATIENCE = 150;

let socket = null;
let number = 0;
let delay = 250;
let tab = recall("sessionStorage", "mercer-tab") ?? "";
const kinds = new Map(); // do -> { n, handler, sent, waiting, last, sticky, once, open }
const LOST = "The connection was lost before this was done, and the work ended with it. Please ask again.";
const listeners = new Set();
export const connection = { state: "wait", lost: 0, warm: true };

/** @param {(state: string) => void} listener */
export function onState(listener) {
  listeners.add(listener);
  listener(connection.state);
}
function setState(state) {
  connection.state = state;
  listeners.forEach((l) => l(state));
}

function setWarm(warm) {
  connection.warm = warm;
  listeners.forEach((l) => l(connection.state));
}

/**
 * @typedef {(Float32Array | Float64Array) & { shape: number[] }} Numbers
 * @typedef {Record<string, any>} Header
 * @typedef {(header: Header, arrays: Record<string, Numbers>, asked: number) => void} Handler
 */

/**
 * @param {ArrayBuffer} buffer
 * @returns {[Header, Record<string, Numbers>]}
 */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  const arrays = {};
  for (const [name, shape] of header.arrays) {
    const size = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new Float32Array(buffer, at, size);
    arrays[name].shape = shape;
    at += 4 * size;
  }
  return [header, arrays];
}

async function openSocket() {
  if (isAlone) return new (await import("./engine/socket.js")).PageSocket();
  const made = new WebSocket(
    `ws://${location.host}/ws?token=${encodeURIComponent(token)}&tab=${encodeURIComponent(tab)}`,
  );
  made.binaryType = "arraybuffer";
  return made;
}

export async function connect() {
  setState("wait");
  socket = await openSocket();
  socket.onopen = () => {
    delay = 250;
    setState("on");
    // What was asked last and matters still is asked again.
    for (const kind of kinds.values()) {
      const next =
        kind.waiting ??
        (kind.sent && kind.sticky ? kind.last : null) ??
        (kind.sticky && connection.lost ? kind.last : null);
      kind.sent = 0;
      kind.waiting = null;
      if (next) transmit(next.do, next);
    }
  };
  socket.onmessage = (event) => receive(event.data);
  socket.onclose = (event) => {
    connection.lost += 1;
    giveUp();
    if (event.code === 1008) {
      setState("refused");
      return;
    }
    setState("off");
    setTimeout(connect, delay);
    delay = Math.min(4000, delay * 1.7);
  };
}

// Work that is not asked for again by itself has ended: who waits for it is told.
function giveUp() {
  for (const kind of kinds.values()) {
    if (!kind.once || !kind.open) continue;
    kind.open = false;
    kind.sent = 0;
    kind.handler({ error: LOST }, {}, kind.asked);
  }
}

function receive(data) {
  const [header, arrays] = data instanceof ArrayBuffer ? unpack(data) : data;
  if (header.do === "hello") {
    tab = header.tab;
    remember("sessionStorage", "mercer-tab", tab);
    setWarm(header.warm);
    return;
  }
  if (header.do === "warm") {
    setWarm(true);
    return;
  }
  const kind = kinds.get(header.do);
  if (!kind || header.n !== kind.n) return;
  kind.sent = 0;
  // What is said on the way is not the answer.
  kind.open = Boolean(header.progress ?? header.heat);
  kind.handler(header, arrays, kind.asked);
  if (kind.waiting) {
    const next = kind.waiting;
    kind.waiting = null;
    transmit(header.do, next);
  }
}

function transmit(what, request) {
  const kind = kinds.get(what);
  kind.n = ++number;
  kind.open = true;
  kind.sent = performance.now();
  // An answer is heard by who asked for it, even if somebody else has asked since.
  kind.asked = request.asked;
  kind.handler = request.handler;
  kind.last = request;
  const { asked, handler, ...rest } = request;
  socket.send(JSON.stringify({ ...rest, n: kind.n, do: what }));
}

/**
 * Ask; the handler hears every answer to the newest request of this kind. When the connection is lost, what is sticky is
 * asked again on the next one, and the handler of what is to be done once hears an error.
 * @param {string} what
 * @param {Record<string, any>} request
 * @param {Handler} handler
 * @param {{ sticky?: boolean, once?: boolean, at?: number }} options
 */
export function ask(what, request, handler, { sticky = false, once = false, at = performance.now() } = {}) {
  const kind = kinds.get(what) ?? { n: 0, sent: 0, waiting: null, last: null, open: false };
  Object.assign(kind, { sticky, once });
  kinds.set(what, kind);
  const next = { ...request, do: what, asked: at, handler };
  if (!socket || socket.readyState !== 1) {
    kind.waiting = next;
    return;
  }
  if (kind.sent && performance.now() - kind.sent < PATIENCE) {
    kind.waiting = next;
    setTimeout(() => {
      if (kind.waiting === next && socket.readyState === 1) {
        kind.waiting = null;
        transmit(what, next);
      }
    }, PATIENCE);
    return;
  }
  transmit(what, next);
}

/** @param {string} what */
export function stop(what) {
  if (socket?.readyState === 1) socket.send(JSON.stringify({ n: ++number, do: "stop", what }));
}

/**
 * @param {string} path
 * @param {Record<string, string>} params
 */
export function address(path, params = {}) {
  return `${path}?${new URLSearchParams({ token, tab, ...params })}`;
}

// For tests: what happens when a cable is pulled.
export function drop() {
  socket?.close(4000);
}
