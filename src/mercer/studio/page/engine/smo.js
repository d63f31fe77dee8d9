// @ts-check
// The one quadratic program behind every machine here, in signed variables:
//
//   min 1/2 beta' Q beta - p' beta + kink |beta|_1,   lower <= beta <= upper,   the sum of each group is what it is.
//
// Sequential minimal optimisation: the pair that gains most by its second-order model (Fan, Chen & Lin 2005), or one
// coordinate where no sum is fixed. Steps converge ever more slowly as they come near, so that now and then the
// coefficients inside their boxes are solved for at once; that ends at rounding error.

import { solve } from "./semidefinite.js";

const FLAT = 1e-12; // a curvature below this share of the diagonal is none
const BATCH = 400; // pair steps between two attempts to solve for all that are free
const MOST = 4000; // batches
const LARGEST_FACE = 500;
const EFFORT = 2e7; // operations of such attempts between two batches

/**
 * @typedef {object} Program
 * @property {Float64Array} Q n by n
 * @property {Float64Array} p
 * @property {Float64Array} lower
 * @property {Float64Array} upper
 * @property {number} [kink]
 * @property {ArrayLike<number> | null} groups of each coordinate, from 0 on; null where no sum is fixed
 * @property {Float64Array} start feasible
 *
 * @typedef {object} Solution
 * @property {Float64Array} beta
 * @property {Float64Array} gradient p - Q beta
 * @property {number[]} bias of each group; none where no sum is fixed
 * @property {number} violation of the optimality conditions
 * @property {boolean} done
 * @property {number} steps
 */

/**
 * @param {Program} program
 * @param {{ tol?: number, milliseconds?: number }} limits
 * @returns {Solution}
 */
export function minimise(program, { tol = 1e-10, milliseconds = 1500 } = {}) {
  const work = new Work(program);
  const until = performance.now() + milliseconds;
  let best = Infinity;
  let idle = 0;
  for (let batch = 0; batch < MOST; batch++) {
    work.run(batch ? BATCH : 4 * BATCH, tol);
    if (work.violation() <= tol) break;
    work.faces();
    const now = work.violation();
    if (now <= tol || performance.now() > until) break;
    // What no longer falls is rounding.
    idle = now < 0.5 * best ? 0 : idle + 1;
    best = Math.min(best, now);
    if (idle > 60 && best <= 1e3 * tol) break;
  }
  return work.solution(tol);
}

class Work {
  /** @param {Program} program */
  constructor({ Q, p, lower, upper, kink = 0, groups, start }) {
    this.Q = Q;
    this.p = p;
    this.lower = lower;
    this.upper = upper;
    this.kink = kink;
    this.groups = groups;
    this.n = p.length;
    this.beta = Float64Array.from(start);
    this.count = groups ? 1 + Math.max(-1, ...Array.from(groups)) : 0;
    this.steps = 0;
    this.diagonal = Float64Array.from(p, (_, i) => Q[i * this.n + i]);
    this.flat = FLAT * Math.max(1e-300, ...this.diagonal);
    this.refresh();
  }

  refresh() {
    const { n, Q, beta, p } = this;
    this.gradient = Float64Array.from(p);
    for (let j = 0; j < n; j++) {
      if (!beta[j]) continue;
      for (let i = 0; i < n; i++) this.gradient[i] -= Q[j * n + i] * beta[j];
    }
  }

  // What a coordinate gains by rising, or loses by falling; infinite where it may not.
  up(i) {
    return this.beta[i] < this.upper[i] ? this.gradient[i] - (this.beta[i] < 0 ? -this.kink : this.kink) : -Infinity;
  }
  down(i) {
    return this.beta[i] > this.lower[i] ? this.gradient[i] - (this.beta[i] > 0 ? this.kink : -this.kink) : Infinity;
  }
  // How far it may go before its box ends, or the slope changes.
  above(i) {
    return (this.kink && this.beta[i] < 0 ? 0 : this.upper[i]) - this.beta[i];
  }
  below(i) {
    return this.beta[i] - (this.kink && this.beta[i] > 0 ? 0 : this.lower[i]);
  }

  extremes(group) {
    let [high, low] = [-Infinity, Infinity];
    for (let i = 0; i < this.n; i++) {
      if (this.groups && this.groups[i] !== group) continue;
      high = Math.max(high, this.up(i));
      low = Math.min(low, this.down(i));
    }
    return [high, low];
  }

  violation() {
    if (!this.groups) {
      const [high, low] = this.extremes(0);
      return Math.max(0, high, -low);
    }
    let worst = 0;
    for (let g = 0; g < this.count; g++) {
      const [high, low] = this.extremes(g);
      worst = Math.max(worst, high - low);
    }
    return worst;
  }

  run(most, tol) {
    for (let k = 0; k < most; k++) {
      const moved = this.groups ? this.pairStep(tol) : this.singleStep(tol);
      if (!moved) return;
      this.steps += 1;
    }
  }

  pairStep(tol) {
    const { n, Q, diagonal } = this;
    let [bestI, bestJ, bestGain] = [-1, -1, 0];
    for (let g = 0; g < this.count; g++) {
      let i = -1;
      let high = -Infinity;
      for (let k = 0; k < n; k++) {
        if (this.groups[k] !== g) continue;
        const gain = this.up(k);
        if (gain > high) [high, i] = [gain, k];
      }
      if (i < 0) continue;
      for (let j = 0; j < n; j++) {
        if (this.groups[j] !== g || j === i) continue;
        const difference = high - this.down(j);
        if (!(difference > tol)) continue;
        const curvature = Math.max(this.flat, diagonal[i] + diagonal[j] - 2 * Q[i * n + j]);
        const gain = (difference * difference) / curvature;
        if (gain > bestGain) [bestI, bestJ, bestGain] = [i, j, gain];
      }
    }
    if (bestI < 0) return false;
    const curvature = Math.max(this.flat, diagonal[bestI] + diagonal[bestJ] - 2 * Q[bestI * n + bestJ]);
    const step = (this.up(bestI) - this.down(bestJ)) / curvature;
    const room = [this.above(bestI), this.below(bestJ)];
    this.move(bestI, Math.min(step, ...room), step >= room[0] && room[0] <= room[1]);
    this.move(bestJ, -Math.min(step, ...room), step >= room[1] && room[1] <= room[0]);
    return true;
  }

  singleStep(tol) {
    let [best, bestGain, bestStep] = [-1, 0, 0];
    for (let i = 0; i < this.n; i++) {
      const curvature = Math.max(this.flat, this.diagonal[i]);
      const [rise, fall] = [this.up(i), this.down(i)];
      const slope = rise > tol ? rise : fall < -tol ? fall : 0;
      const step = Math.max(-this.below(i), Math.min(this.above(i), slope / curvature));
      const gain = step * (slope - 0.5 * curvature * step);
      if (gain > bestGain) [best, bestGain, bestStep] = [i, gain, step];
    }
    if (best < 0) return false;
    const end = bestStep > 0 ? this.above(best) : this.below(best);
    this.move(best, bestStep, Math.abs(bestStep) >= end);
    return true;
  }

  // A step that ends at a bound ends exactly there.
  move(i, step, toTheEnd) {
    if (!step && !toTheEnd) return;
    const before = this.beta[i];
    if (!toTheEnd) this.beta[i] += step;
    else if (this.kink && before * step < 0) this.beta[i] = 0;
    else this.beta[i] = step > 0 ? this.upper[i] : this.lower[i];
    const change = this.beta[i] - before;
    const row = i * this.n;
    for (let k = 0; k < this.n; k++) this.gradient[k] -= this.Q[row + k] * change;
  }

  isFree(i) {
    const b = this.beta[i];
    return b > this.lower[i] && b < this.upper[i] && !(this.kink && b === 0);
  }

  slope(i) {
    return this.gradient[i] - (this.kink ? Math.sign(this.beta[i]) * this.kink : 0);
  }

  // One face after the other: each but the last ends with a coefficient more at its bound.
  faces() {
    let effort = EFFORT;
    while (effort > 0) {
      const m = this.face();
      if (!m) return;
      effort -= m ** 3;
    }
  }

  // The optimum of the free coefficients with all others held, as far as their boxes allow. How many there were if a box
  // was in the way, else 0.
  face() {
    const free = [];
    for (let i = 0; i < this.n; i++) if (this.isFree(i)) free.push(i);
    // Of each group the largest coefficient gives what the others take.
    const givers = [];
    for (let g = 0; g < this.count; g++) {
      const members = free.filter((i) => this.groups[i] === g);
      givers.push(members.reduce((a, b) => (this.room(b) > this.room(a) ? b : a), members[0] ?? -1));
    }
    const others = free.filter((i) => !givers.includes(i));
    const m = others.length;
    if (!m || m > LARGEST_FACE) return 0;
    const { n, Q } = this;
    const giver = others.map((i) => (this.groups ? givers[this.groups[i]] : -1));
    const H = new Float64Array(m * m);
    const r = new Float64Array(m);
    const q = (a, b) => (a < 0 || b < 0 ? 0 : Q[a * n + b]);
    for (let a = 0; a < m; a++) {
      const [i, gi] = [others[a], giver[a]];
      r[a] = this.slope(i) - (gi < 0 ? 0 : this.slope(gi));
      for (let b = 0; b <= a; b++) {
        const [j, gj] = [others[b], giver[b]];
        H[a * m + b] = H[b * m + a] = q(i, j) - q(gi, j) - q(i, gj) + q(gi, gj);
      }
    }
    // Where the matrix is singular there may be a way down without end: then a box ends it.
    const { x: inside, drift } = solve(H, r);
    const x = drift ?? inside;
    const change = new Map(others.map((i, a) => [i, x[a]]));
    others.forEach((_, a) => {
      if (giver[a] >= 0) change.set(giver[a], (change.get(giver[a]) ?? 0) - x[a]);
    });
    const isWhole = this.walk(change, drift ? Infinity : 1);
    this.refresh();
    return isWhole ? 0 : m;
  }

  room(i) {
    return Math.min(this.above(i), this.below(i));
  }

  walk(change, most) {
    let [share, first] = [most, -1];
    for (const [i, d] of change) {
      const room = d > 0 ? this.above(i) / d : d < 0 ? -this.below(i) / d : Infinity;
      if (room < share) [share, first] = [room, i];
    }
    if (!Number.isFinite(share)) return true;
    for (const [i, d] of change) {
      const before = this.beta[i];
      this.beta[i] += share * d;
      if (i === first) this.beta[i] = this.kink && before * d < 0 ? 0 : d > 0 ? this.upper[i] : this.lower[i];
    }
    return first < 0;
  }

  /** @returns {Solution} */
  solution(tol) {
    const bias = [];
    for (let g = 0; g < this.count; g++) {
      const free = [];
      for (let i = 0; i < this.n; i++) if (this.groups[i] === g && this.isFree(i)) free.push(this.slope(i));
      const [high, low] = this.extremes(g);
      const middle =
        Number.isFinite(high) && Number.isFinite(low) ? 0.5 * (high + low) : Number.isFinite(high) ? high : low;
      bias.push(free.length ? free.reduce((a, b) => a + b, 0) / free.length : middle);
    }
    const violation = this.violation();
    return {
      beta: this.beta,
      gradient: this.gradient,
      bias,
      violation,
      done: violation <= Math.max(1e3 * tol, 1e-7),
      steps: this.steps,
    };
  }
}
