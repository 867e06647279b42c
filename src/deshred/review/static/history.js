// Everything that was ever said, by whom and when. Any of it can be undone.

import { get } from "./api.js";
import { button, fill, h } from "./dom.js";
import { cardOf } from "./statements.js";
import { count, words } from "./words.js";

const STEP = 100; // rows that are drawn at once
let events = [];
let loaded = -1;
let most = STEP;
let wanted = "";

function sentence(app, [kind, shreds, value]) {
  const ids = shreds.slice(0, 3).map((index) => app.info.shreds[index].id).join(" → ");
  return h("span", { dir: "auto" }, h("b", {}, words.said[kind] ?? kind), ` ${ids}${shreds.length > 3 ? ` … (${shreds.length})` : ""}${value ? ` “${value}”` : ""}`);
}

/** All that a row says, for the filter. */
function textOf(app, event) {
  const said = [...event.say, ...event.unsay].map(([kind, shreds, value]) => [words.said[kind] ?? kind, ...shreds.map((index) => app.info.shreds[index].id), value]);
  return [event.number, event.actor, event.action, words.action[event.action], said].flat(3).join(" ").toLowerCase();
}

function picture(app, event) {
  const cards = event.say.map((statement) => cardOf(app, statement, event.actor));
  app.dialog(words.entry(event.number), h("ul", { class: "stated-cards" }, cards));
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
    h("td", {}, words.action[event.action] ?? event.action),
    h("td", {}, isReversal ? h("span", { class: "facts" }, words.entry(events.find((one) => one.id === event.of)?.number ?? "?")) : what.map((one) => h("div", {}, one)), event.replaced.length ? h("div", { class: "facts" }, "replaces: ", event.replaced.map((one, k) => [k ? ", " : "", sentence(app, one)])) : null),
    h("td", {}, h("span", { class: "row" }, isReversal || event.undone ? null : button("Undo", "", () => app.undo(event.id)), event.say.length ? button("Picture", "", () => picture(app, event)) : null, first === undefined ? null : button("Open", "", () => app.openShred(first)))),
  );
}

export const history = {
  show(app, main) {
    if (loaded !== app.state.events) {
      loaded = app.state.events;
      get("/api/history").then((found) => { events = found.events; app.refresh(); });
    }
    const head = ["Entry", "When", "Who", "Action", "What", ""].map((label) => h("th", { scope: "col" }, label || h("span", { class: "hidden" }, "Actions")));
    const filter = h("label", {}, "Filter ", h("input", { type: "search", id: "filter", value: wanted, oninput: (event) => { wanted = event.target.value; most = STEP; app.refresh(); } }));
    const rows = wanted.trim() ? events.filter((event) => textOf(app, event).includes(wanted.trim().toLowerCase())) : events;
    fill(
      main,
      h("div", { class: "bar" }, h("h1", {}, "History"), h("span", { class: "grow" }), filter),
      h("p", { class: "facts" }, "The journal's head is ", h("code", {}, app.state.head), ". Write it down: deshred verify can check the journal against it. ", button("Check now", "c", () => this.actions.check(app), { id: "check" })),
      rows.length ? h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows.slice(0, most).map((event) => row(app, event)))) : h("p", {}, events.length ? "No entry matches." : "Nothing has been said yet."),
      rows.length > most ? h("p", { class: "row" }, button(`${count(rows.length - most, "entry", "entries")} more`, "", () => { most += STEP; app.refresh(); }, { id: "more-history" })) : null,
    );
    const input = document.getElementById("filter");
    if (document.activeElement === input) input.setSelectionRange(wanted.length, wanted.length);
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
