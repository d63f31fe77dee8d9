// @ts-check
// The engine of the page in the place of a server: what link.js needs of a web socket.

export class PageSocket {
  readyState = 0;
  /** @type {() => void} */
  onopen = () => {};
  /** @type {(event: { data: any }) => void} */
  onmessage = () => {};
  /** @type {(event: { code: number }) => void} */
  onclose = () => {};

  constructor() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data: [header, arrays] }) => {
      // A shape is a property of an array's own, which does not travel with it.
      for (const [name, shape] of header.arrays) arrays[name].shape = shape;
      this.onmessage({ data: [header, arrays] });
    });
    this.worker.addEventListener("error", () => this.close(1008));
    setTimeout(() => {
      this.readyState = 1;
      this.onopen();
    });
  }

  /** @param {string} text */
  send(text) {
    this.worker.postMessage(text);
  }

  /** @param {number} code */
  close(code) {
    this.readyState = 3;
    this.worker.terminate();
    this.onclose({ code });
  }
}
