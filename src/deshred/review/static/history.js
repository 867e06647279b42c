// Everything that was ever said, by whom and when. Any of it can be taken back.

import { get } from "./api.js";
import { button, fill, h } from "./dom.js";
import { words } from "./words.js";

let events = [];
let loaded = -1;

function sentence(app, [kind, shreds, value]) {
  const ids = shreds.slice(0, 3).map((index) => app.info.shreds[index].id).join(" → ");
  return h("span", { dir: "auto" }, h("b", {}, words.said[kind] ?? kind), ` ${ids}${shreds.length > 3 ? ` … (${shreds.length})` : ""}${value ? ` “${value}”` : ""}`);
}

function row(app, event) {
  const isReversal = event.action === "undo" || event.action === "redo";
  const what = [...event.say.map((one) => sentence(app, one)), ...event.unsay.map((one) => ["withdrawn: ", sentence(app, one)])];
  const first = event.say[0]?.[1][0] ?? event.unsay[0]?.[1][0];
  return h(
    "tr",
    { class: event.undone ? "undone" : "" },
    h("td", {}, String(event.number)),
    h("td", {}, h("time", { datetime: event.time }, new Date(event.time).toLocaleString())),
    h("td", { dir: "auto" }, event.actor),
    h("td", {}, event.action),
    h("td", {}, isReversal ? h("span", { class: "facts" }, `entry ${events.find((one) => one.id === event.of)?.number ?? "?"}`) : what.map((one) => h("div", {}, one)), event.replaced.length ? h("div", { class: "facts" }, "replaces: ", event.replaced.map((one, k) => [k ? ", " : "", sentence(app, one)])) : null),
    h("td", {}, isReversal || event.undone ? null : button("Undo", "", () => app.undo(event.id)), first === undefined ? null : button("Show", "", () => app.openShred(first))),
  );
}

export const history = {
  show(app, main) {
    if (loaded !== app.state.events) {
      loaded = app.state.events;
      get("/api/history").then((found) => { events = found.events; app.refresh(); });
    }
    const head = ["Entry", "When", "Who", "Action", "What", ""].map((label) => h("th", { scope: "col" }, label || h("span", { class: "hidden" }, "Actions")));
    fill(main, h("h1", {}, "History"), h("p", { class: "facts" }, "The journal's head is ", h("code", {}, app.state.head), ". Write it down: deshred verify can check the journal against it. ", button("Check now", "c", () => this.actions.check(app), { id: "check" })), events.length ? h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, events.map((event) => row(app, event)))) : h("p", {}, "Nothing has been said yet."));
  },
  enter() {
    loaded = -1;
  },
  actions: {
    check: async (app) => {
      const found = await get("/api/verify");
      app.tell(found.problems.length ? found.problems[0] : `The journal is intact: all ${found.entries} lines check out.`, found.problems.length ? "problem" : "info");
    },
  },
};
