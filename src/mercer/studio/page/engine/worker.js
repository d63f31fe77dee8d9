// @ts-check
// The engine at work, beside the page: of each kind of request the newest is answered, as the server does it.

import { ACTIONS as bounds } from "./bounds.js";
import { ACTIONS as ideas } from "./ideas.js";
import { Refusal } from "./machines.js";
import { ACTIONS as playground } from "./playground.js";
import { ACTIONS as versionSpace } from "./version_space.js";

/** @type {Record<string, (request: any, job: { isOver: () => boolean }) => Iterable<any> | AsyncIterable<any>>} */
const ACTIONS = { ...playground, ...ideas, ...versionSpace, ...bounds };
const newest = new Map();

async function answer(request) {
  const { n, do: what } = request;
  const isOver = () => newest.get(what) !== n;
  if (isOver()) return;
  const send = (header, arrays = {}) => {
    const shapes = Object.entries(arrays).map(([name, values]) => [name, values.shape]);
    postMessage([{ n, do: what, ...header, arrays: shapes }, arrays]);
  };
  try {
    if (!(what in ACTIONS)) throw new Refusal(`There is no request named ${what} here.`);
    for await (const [header, arrays] of ACTIONS[what](request, { isOver })) {
      if (isOver()) return;
      send(header, arrays);
    }
  } catch (error) {
    const more = error instanceof Refusal ? error.more : {};
    if (!isOver()) send({ error: error instanceof Error ? error.message : String(error), ...more });
  }
}

addEventListener("message", ({ data }) => {
  const request = JSON.parse(data);
  newest.set(request.do, request.n);
  if (request.do === "stop") newest.delete(request.what);
  // Not at once: what was asked for meanwhile comes first.
  else setTimeout(() => answer(request));
});
