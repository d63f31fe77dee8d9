// @ts-check
// Everything that a link must bring back, and the link itself: #<view>=<base64url of JSON>.

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
  data: {},
};

const watchers = new Set();
export function onLink(watcher) {
  watchers.add(watcher);
}

const encode = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
const decode = (text) =>
  new TextDecoder().decode(
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)),
  );

export function toHash() {
  const { view, ...rest } = state;
  const keep = { s: rest.scene };
  if (view === "solve") Object.assign(keep, { v: rest.solver, k: rest.step });
  if (view === "idea") keep.i = rest.idea;
  if (view === "data") keep.d = rest.data;
  return `#${view}=${encode(JSON.stringify(keep))}`;
}

let writing = 0;
export function saveLink() {
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", toHash()), 250);
}

// Whether the address holds a state; a broken one is said to be so, and ignored.
export function readHash() {
  const found = location.hash.match(/^#(play|solve|idea|data)=(.*)$/);
  if (!found) return false;
  const kept = JSON.parse(decode(found[2]));
  state.view = found[1];
  if (kept.s && Array.isArray(kept.s.points)) Object.assign(state.scene, kept.s);
  if (typeof kept.v === "string") state.solver = kept.v;
  if (Number.isFinite(kept.k)) state.step = kept.k;
  if (typeof kept.i === "string") state.idea = kept.i;
  if (kept.d && typeof kept.d === "object") state.data = kept.d;
  return true;
}

export function tellLink() {
  watchers.forEach((w) => w());
}
