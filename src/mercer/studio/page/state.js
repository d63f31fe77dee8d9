// @ts-check
// Everything that a link must bring back, and the link itself: <view>=<base64url of JSON>. A link names no server and
// no run, so it opens on anybody's Studio.

export const state = {
  view: "play",
  scene: {
    points: [],
    window: [-1.5, 4.5, -1.25, 3.25],
    method: "hard",
    kernel: "linear",
    expression: "rbf(gamma=1) + 0.5*linear()",
    bias: "free",
    C: 1,
    gamma: 1,
    degree: 2,
    coef0: 1,
    length_scale: 1,
    nu: 0.2,
    epsilon: 0.1,
    alpha: 0.1,
    preset: "toy",
  },
  solver: "smo",
  step: 0,
  idea: "line",
  /** @type {Record<string, Record<string, any>>} what each idea shows: its points and its numbers */
  ideas: {},
  data: {},
};

// As it is copied (mercer:play=...), and as it stands behind the # of an address.
const LINK = /(?:^|#|^mercer:)(play|solve|idea|data)=([\w-]*)$/;

const encode = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
const decode = (text) =>
  new TextDecoder().decode(
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)),
  );

/** What is on the screen, as it stands behind the # of an address. */
export function fragment() {
  const { view, ...rest } = state;
  const keep = { s: rest.scene };
  if (view === "solve") Object.assign(keep, { v: rest.solver, k: rest.step });
  if (view === "idea") Object.assign(keep, { i: rest.idea, w: rest.ideas[rest.idea] });
  if (view === "data") keep.d = rest.data;
  return `${view}=${encode(JSON.stringify(keep))}`;
}

const isPoint = (p) => Array.isArray(p) && p.length === 3 && p.every(Number.isFinite);

// A link is as foreign as a file: only what is known is taken from it, and only if it is of its kind.
function takeScene(given) {
  const { scene } = state;
  if (!Array.isArray(given?.points) || !given.points.every(isPoint)) throw new TypeError("no points");
  const taken = { points: given.points };
  for (const [key, value] of Object.entries(given)) {
    if (key === "window" && Array.isArray(value) && value.length === 4 && value.every(Number.isFinite))
      taken.window = value;
    else if (key === "preset") taken.preset = typeof value === "string" ? value : null;
    else if (key in scene && !Array.isArray(scene[key]) && typeof value === typeof scene[key]) taken[key] = value;
  }
  Object.assign(scene, taken);
}

/**
 * Take over the state of a link, in whatever form it was copied; an error if there is none in it.
 * @param {string} link
 */
export function restore(link) {
  const found = link.trim().match(LINK);
  if (!found) throw new TypeError("no link");
  const given = JSON.parse(decode(found[2]));
  if (given.s) takeScene(given.s);
  state.view = found[1];
  if (typeof given.v === "string") state.solver = given.v;
  if (Number.isFinite(given.k)) state.step = given.k;
  if (typeof given.i === "string") {
    state.idea = given.i;
    const shown = given.w;
    if (shown && typeof shown === "object" && (!shown.points || shown.points.every(isPoint)))
      state.ideas[given.i] = shown;
  }
  if (given.d && typeof given.d === "object") state.data = given.d;
}

/**
 * What an idea shows, kept from one visit to the next and in links; at first what it starts with.
 * @template {Record<string, any>} T
 * @param {string} key
 * @param {T} start
 * @returns {T}
 */
export function kept(key, start) {
  const found = state.ideas[key] ?? {};
  const same = Object.entries(start).filter(([name, value]) => typeof found[name] === typeof value);
  const shown = { ...start, ...Object.fromEntries(same.map(([name]) => [name, found[name]])) };
  state.ideas[key] = shown;
  return /** @type {T} */ (shown);
}
