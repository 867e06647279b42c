// What is on no page: blank shreds and those set aside; and what people doubt.

import { button, fill, h } from "./dom.js";
import { drawStrips } from "./pictures.js";
import { cardOf } from "./statements.js";
import { count } from "./words.js";

function strip(app, index) {
  const canvas = h("canvas", { class: "strip", "aria-hidden": "true" });
  const { width, height } = app.info.shreds[index];
  const draw = () => {
    const scale = Math.min(canvas.clientWidth / width, canvas.clientHeight / height);
    const corner = { x: -(canvas.clientWidth / scale - width) / 2, y: 0, scale };
    drawStrips(canvas, [{ index, x: 0, y: 0, width, flipped: app.state.flipped.includes(index) }], corner, () => requestAnimationFrame(draw));
  };
  requestAnimationFrame(draw);
  return canvas;
}

/** Strips to choose from. */
export function tray(app, indices, buttonFor) {
  return h("ul", { class: "strips" }, indices.map((index) => h("li", {}, strip(app, index), h("span", { dir: "auto" }, app.info.shreds[index].id), buttonFor(index))));
}

function section(title, empty, items) {
  return h("section", { class: "tray" }, h("h2", {}, title), items.length ? h("ul", { class: "strips" }, items) : h("p", { class: "facts" }, empty));
}

export const trays = {
  show(app, main) {
    const { info, state } = app;
    const blank = info.shreds.map((_, index) => index).slice(info.inked);
    const item = (index, ...more) => h("li", {}, strip(app, index), h("span", { dir: "auto" }, info.shreds[index].id), ...more);
    fill(
      main,
      h("h1", {}, "Trays"),
      section(`Set aside (${state.aside.length})`, "T on a page sets a shred aside.", state.aside.map((index) => item(index, button("Put back", "", () => app.send("put-back", [], { unsay: [["aside", [index]]] }))))),
      section(`Upside down (${state.flipped.length})`, "F on a page turns a shred.", state.flipped.map((index) => item(index, button("Turn back", "", () => app.send("turn-back", [], { unsay: [["flipped", [index]]] }))))),
      section(`On one page, on different pages (${state.groups.length})`, "K on a page marks shreds; Y says that they lie on one page, V on different ones.", state.groups.map(([kind, shreds, who]) => cardOf(app, [kind, shreds], who, button("Take back", "", () => app.send("take-back", [], { unsay: [[kind, shreds]] }))))),
      section(`Doubtful cut-outs (${info.warnings.length})`, "All shreds were cut out without a doubt.", info.warnings.map(([index, text]) => (index === null ? h("li", {}, h("span", { dir: "auto" }, text)) : item(index, h("span", { class: "facts", dir: "auto" }, text), index < info.inked ? button("Open", "", () => app.openShred(index)) : null)))),
      section(`Cannot tell (${state.doubts.length})`, "Nothing was left open.", state.doubts.map(([index]) => item(index, button("Open", "", () => app.openShred(index))))),
      section(count(blank.length, "blank shred"), "There are none.", blank.map((index) => {
        const after = state.blanks[String(index)];
        return item(index, after === undefined ? h("span", { class: "facts" }, "B on a page places one") : button(`After ${info.shreds[after].id}: take out`, "", () => app.send("take-out", [], { unsay: [["blank", [index, after]]] })));
      })),
      section(`Notes (${state.notes.length})`, "N on a page keeps a note.", state.notes.map(([[index], text, who]) => item(index, h("q", { dir: "auto" }, text), h("span", { class: "facts" }, who)))),
    );
  },
};
