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
    drawStrips(canvas, [{ index, x: 0, y: 0, width, flipped: app.state.flipped.includes(index) }], corner, () => requestAnimationFrame(draw), { ground: "#8d938f" });
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
      section(`Set aside (${state.aside.length})`, "Press T on a page to set a shred aside.", state.aside.map((index) => item(index, button("Put back", "", () => app.send("put-back", [], { unsay: [["aside", [index]]] }))))),
      section(`Upside down (${state.flipped.length})`, "Press F on a page to turn a shred.", state.flipped.map((index) => item(index, button("Turn back", "", () => app.send("turn-back", [], { unsay: [["flipped", [index]]] }))))),
      section(`Same page or different pages (${state.groups.length})`, "Press K on a page to mark shreds, then Y if they belong on one page or V if they do not.", state.groups.map(([kind, shreds, who]) => cardOf(app, [kind, shreds], who, button("Undo", "", () => app.send("take-back", [], { unsay: [[kind, shreds]] }))))),
      section(`Doubtful cut-outs (${info.warnings.length})`, "Every shred was cut out without problems.", info.warnings.map(([index, text]) => (index === null ? h("li", {}, h("span", { dir: "auto" }, text)) : item(index, h("span", { class: "facts", dir: "auto" }, text), index < info.inked ? button("Open", "", () => app.openShred(index)) : null)))),
      section(`Cannot tell (${state.doubts.length})`, "No join was left undecided.", state.doubts.map(([index]) => item(index, button("Open", "", () => app.openShred(index))))),
      section(count(blank.length, "blank shred"), "There are none.", blank.map((index) => {
        const after = state.blanks[String(index)];
        return item(index, after === undefined ? h("span", { class: "facts" }, "Press B on a page to place it") : button(`After ${info.shreds[after].id}: take out`, "", () => app.send("take-out", [], { unsay: [["blank", [index, after]]] })));
      })),
      section(`Notes (${state.notes.length})`, "Press N on a page to write a note.", state.notes.map(([[index], text, who]) => item(index, h("q", { dir: "auto" }, text), h("span", { class: "facts" }, who)))),
    );
  },
};
