// @ts-check
// How the points of a plane are edited: by mouse, touch and keyboard.

const CLICK = 4; // pixels a pointer may travel and still be a click
const HOLD = 600; // milliseconds after which a finger on a point removes it

/** @param {import("./plane.js").Plane} plane that is to be edited */
export function listen(plane) {
  const { canvas } = plane;
  canvas.addEventListener("pointerdown", (e) => down(plane, e));
  canvas.addEventListener("pointermove", (e) => move(plane, e));
  canvas.addEventListener("pointerup", (e) => up(plane, e));
  canvas.addEventListener("pointercancel", () => {
    plane.drag = null;
  });
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("dblclick", (e) => e.preventDefault());
  canvas.addEventListener("keydown", (e) => {
    if (press(plane, e.key, e.shiftKey)) e.preventDefault();
  });
  canvas.addEventListener("blur", () => {
    plane.cursor = null;
    plane.draw();
  });
}

// --- pointers --------------------------------------------------------------------------------

function down(plane, event) {
  const [px, py] = plane.at(event);
  const k = plane.nearest(px, py);
  plane.canvas.setPointerCapture(event.pointerId);
  plane.cursor = null;
  const erase = event.button === 2 || event.altKey || plane.tool === "delete";
  plane.drag = { k, px, py, moved: false, erase, held: 0 };
  if (k >= 0) plane.selected = k;
  if (event.pointerType === "touch" && k >= 0) plane.drag.held = setTimeout(() => hold(plane), HOLD);
  plane.draw();
}

function hold(plane) {
  const { drag } = plane;
  if (!drag || drag.moved) return;
  plane.drag = null;
  remove(plane, drag.k);
}

function move(plane, event) {
  const { drag } = plane;
  if (!drag) return;
  const [px, py] = plane.at(event);
  if (Math.hypot(px - drag.px, py - drag.py) > CLICK && !drag.moved) {
    drag.moved = true;
    clearTimeout(drag.held);
  }
  if (drag.moved && drag.k >= 0 && !drag.erase) place(plane, drag.k, ...plane.toWorld(px, py));
}

function up(plane, event) {
  const { drag } = plane;
  plane.drag = null;
  if (!drag) return;
  clearTimeout(drag.held);
  if (drag.erase && drag.k >= 0) remove(plane, drag.k);
  else if (!drag.moved && drag.k < 0 && plane.tool !== "delete" && event.button !== 2)
    add(plane, ...plane.toWorld(drag.px, drag.py));
  else if (!drag.moved && drag.k >= 0 && plane.tool === "class") relabel(plane, drag.k, plane.current);
  else if (drag.moved && drag.k >= 0) changed(plane, "moved");
}

// --- keys ------------------------------------------------------------------------------------

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// The keyboard moves a cross, or the point that it has picked. The answer is whether the key means something here.
function press(plane, key, isFine) {
  const picked = plane.model.points[plane.picked];
  if (key in ARROWS) {
    const [left, right] = plane.view;
    const [dx, dy] = ARROWS[key].map((v) => (v * (right - left)) / (isFine ? 400 : 50));
    if (picked) place(plane, plane.picked, picked[0] + dx, picked[1] + dy);
    else {
      const [x, y] = cross(plane);
      plane.cursor = [x + dx, y + dy];
    }
  } else if (key === "Enter" || key === " ") {
    const at = cross(plane);
    if (plane.picked >= 0) plane.picked = -1;
    else add(plane, ...at);
  } else if (key === "n" || key === "p") pick(plane, key === "n");
  else if (key === "Delete" || key === "Backspace") {
    const k = plane.picked >= 0 ? plane.picked : plane.selected;
    if (plane.model.points[k]) {
      plane.picked = -1;
      remove(plane, k);
    }
  } else if (/^[1-8]$/.test(key)) {
    const label = Number(key) - 1;
    if (plane.picked >= 0) relabel(plane, plane.picked, label);
    else plane.on.choose?.(label);
  } else if (key === "Escape") {
    plane.picked = -1;
    plane.hover(-1);
  } else return false;
  plane.draw();
  return true;
}

// Where the cross is: at first in the middle.
function cross(plane) {
  const [left, right, bottom, top] = plane.view;
  return (plane.cursor ??= [(left + right) / 2, (bottom + top) / 2]);
}

// The next point, or the previous one.
function pick(plane, isNext) {
  const { points } = plane.model,
    n = points.length;
  if (!n) return;
  plane.picked = (plane.picked + (isNext ? 1 : n - (plane.picked >= 0 ? 1 : 0)) + n) % n;
  plane.selected = plane.picked;
  const [x, y, label] = points[plane.picked];
  plane.hover(plane.picked, ...plane.toScreen(x, y));
  plane.on.say?.(`Point ${plane.picked + 1} of ${n}, class ${label + 1}, at ${x}, ${y}`);
}

// --- what is done to points ------------------------------------------------------------------

// Where a point may be: not finer than a pixel shows, and where the plane's owner allows it.
function fixed(plane, x, y) {
  const [left, right] = plane.view;
  const digits = Math.max(0, 3 - Math.floor(Math.log10(right - left)));
  const point = [x, y].map((v) => Number(v.toFixed(Math.min(8, digits))));
  return plane.lock ? plane.lock(point) : point;
}

function add(plane, x, y) {
  const { points } = plane.model;
  if (plane.most && points.length >= plane.most) {
    plane.on.say?.(`There is room for ${plane.most} points.`);
    return;
  }
  points.push([...fixed(plane, x, y), plane.current]);
  plane.selected = points.length - 1;
  changed(plane, "added");
}

function place(plane, k, x, y) {
  plane.model.points[k].splice(0, 2, ...fixed(plane, x, y));
  changed(plane, "moving");
}

function remove(plane, k) {
  const { points } = plane.model;
  if (plane.least && points.length <= plane.least) {
    plane.on.say?.(`At least ${plane.least} points stay.`);
    return;
  }
  points.splice(k, 1);
  plane.selected = Math.min(plane.selected, points.length - 1);
  plane.hover(-1);
  changed(plane, "removed");
}

function relabel(plane, k, label) {
  plane.model.points[k][2] = label;
  changed(plane, "relabelled");
}

function changed(plane, kind) {
  plane.draw();
  plane.on.change?.(kind);
}
