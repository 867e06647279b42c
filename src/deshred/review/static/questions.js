// One question at a time, the one that helps most first.

import { get, tab } from "./api.js";
import { button, fill, h } from "./dom.js";
import { around, drawStrips, itemsOf, sizeOf } from "./pictures.js";
import { cardOf } from "./statements.js";
import { percent, words } from "./words.js";

let queue = null; // {questions, left}
let version = -1;
let since = 0; // when the question was shown
let shownKey = "";
const later = new Set();
let busy = false;
let last = null;

async function load(app) {
  if (busy) return;
  busy = true;
  version = app.state.version;
  try {
    queue = await get(`/api/questions?tab=${tab}`);
  } finally {
    busy = false;
  }
  app.refresh();
}

function current() {
  const open = queue?.questions ?? [];
  return open.find((one) => !later.has(one.key)) ?? open[0] ?? null;
}

function closeUp(app, question, option, wide) {
  const canvas = h("canvas", { class: wide ? "closeup wide" : "closeup", "aria-hidden": "true" });
  const isRight = question.side === "right";
  const left = isRight ? question.shred : option.partner;
  const right = isRight ? option.partner : question.shred;
  const own = app.info.shreds[question.shred];
  const items = around(app, left, right, { x: option.x ?? 0, y: option.y ?? 0 });
  const tear = left === null ? 0 : right === null ? own.width : option.x;
  const row = isRight || left === null ? question.row : question.row + (option.y ?? 0);
  const draw = () => {
    const scale = wide ? 0.75 : 0.5;
    const view = { scale, x: tear - canvas.clientWidth / 2 / scale, y: row - canvas.clientHeight / 2 / scale };
    drawStrips(canvas, items, view, () => requestAnimationFrame(draw), { over: (context, zoom) => ticks(context, (tear - view.x) * zoom) });
  };
  requestAnimationFrame(draw);
  return canvas;
}

/** Small marks above and below the tear: the paper itself stays clean. */
function ticks(context, x) {
  context.fillStyle = "#2f5d62";
  for (const [y, dy] of [[0, 1], [context.canvas.height, -1]]) {
    context.beginPath();
    context.moveTo(x - 8, y);
    context.lineTo(x + 8, y);
    context.lineTo(x, y + 12 * dy);
    context.fill();
  }
}

function wholePage(app, question) {
  const sheet = app.state.pages[question.page] ?? app.state.pages[0];
  const canvas = h("canvas", { class: "sheet", "aria-hidden": "true" });
  const [width, height] = sizeOf(app.info, sheet);
  const draw = () => {
    const scale = Math.min(canvas.clientWidth / width, canvas.clientHeight / height);
    const view = { scale, x: -(canvas.clientWidth / scale - width) / 2, y: 0 };
    drawStrips(canvas, itemsOf(app.info, app.state, sheet), view, () => requestAnimationFrame(draw));
  };
  requestAnimationFrame(draw);
  return canvas;
}

async function choose(app, choice) {
  const question = current();
  if (!question) return;
  const ms = Math.round(performance.now() - since);
  if (ms < 400) {
    app.tell("That was too quick for a real look. Please answer again.");
    return;
  }
  last = question;
  const told = choice === "cannot-tell" ? "Noted: cannot tell." : "Answered.";
  queue = { ...queue, questions: queue.questions.filter((one) => one !== question) };
  const answer = await app.write("/api/answers", { key: question.key, choice, ms }, told);
  if (!answer) load(app);
}

function heading(question) {
  if (question.side === "page") return "Is this page whole, or does it continue?";
  if (question.options.length === 1) return question.options[0].partner === null ? "Does the page end here?" : "Do these two belong together?";
  return `What goes to the ${question.side} of this shred?`;
}

function pageButtons(app) {
  return [["It is whole", "1", "whole"], ["Continues on the left", "2", "left"], ["Continues on the right", "3", "right"], ["On both sides", "4", "both"]].map(([label, key, choice]) => button(label, key, () => choose(app, choice), { id: `choose-${choice}`, class: choice === "whole" ? "main" : "" }));
}

function optionCard(app, question, option, k, isOnly) {
  const isNow = option.partner === question.now;
  const label = option.partner === null ? "The page ends here" : app.info.shreds[option.partner].id;
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", id: `option-${k}`, class: `option${isNow ? " now" : ""}`, "aria-keyshortcuts": String(k + 1), onclick: () => choose(app, String(k)) },
      closeUp(app, question, option, isOnly),
      h("span", { class: "label" }, h("kbd", {}, String(k + 1)), " ", h("b", { dir: "auto" }, label), isNow ? h("em", {}, " as it is now") : null, h("span", { class: "grow" }), percent(option.belief)),
    ),
  );
}

const SAID = {
  join: "You said that these two belong together.",
  "no-join": "You said that these two do not belong together.",
  first: "You said that a page begins here.",
  "not-first": "You said that no page begins here.",
  last: "You said that a page ends here.",
  "not-last": "You said that no page ends here.",
};

function protest(app, one) {
  const [pair] = one.pairs;
  const canvas = h("canvas", { class: "closeup wide", "aria-hidden": "true" });
  if (pair?.length === 2) {
    get(`/api/joins/${pair[0]}/${pair[1]}`).then((step) => {
      const items = around(app, pair[0], pair[1], step);
      const draw = () => drawStrips(canvas, items, { scale: 0.6, x: step.x - canvas.clientWidth / 1.2, y: step.row - canvas.clientHeight / 1.2 }, () => requestAnimationFrame(draw));
      draw();
    }).catch(() => {});
  }
  return h("section", { class: "protest" }, h("h1", {}, "A second look, please"), h("p", { class: "said" }, SAID[one.said] ?? "You answered a question about this place."), h("p", {}, one.rise ? `The evidence is against this answer: it makes the best order ${one.rise} nats worse.` : "You gave a different answer when asked again. Was your first answer right?"), pair?.length === 2 ? canvas : null, h("p", { class: "row" }, button("My answer is right", "Enter", () => app.write("/api/keep", { of: one.id }), { id: "keep", class: "main" }), button("Undo my answer", "x", () => app.undo(one.id), { id: "take-back" })));
}

/** Two people who do not agree: both statements as pictures. */
function dispute(app, one) {
  const card = (side, key) => cardOf(app, one[side], one.who[side === "mine" ? 0 : 1] || words.somebody, button(words.thisOne, key, () => settle(app, side), { id: `settle-${side}`, class: "main" }));
  return h("section", { class: "dispute", "data-number": one.number }, h("h1", {}, words.dispute), h("p", {}, words.disputeWhy), h("ul", { class: "stated-cards" }, card("mine", "1"), card("theirs", "2")));
}

const settle = (app, choice) => app.write("/api/settle", { number: app.state.disputes[0].number, choice }, words.settled);

export const questions = {
  show(app, main) {
    if (app.state.disputes.length) {
      const [first] = app.state.disputes;
      if (main.querySelector(`.dispute[data-number="${first.number}"]`)) return undefined;
      shownKey = "";
      return fill(main, dispute(app, first));
    }
    if (app.state.protests.length) return fill(main, protest(app, app.state.protests[0]));
    if (version !== app.state.version && !busy) load(app);
    const question = current();
    if (!question) {
      const text = queue ? "No questions left that are worth asking." : "Looking for questions …";
      return fill(main, h("div", { class: "empty" }, h("h1", {}, text), h("p", {}, queue ? "Look through the pages, or export the result." : ""), queue ? button("Pages", "Alt+1", () => app.go("overview"), { class: "main" }) : null));
    }
    const key = `${question.key}|${question.options.map((one) => one.partner)}`;
    if (key === shownKey && main.querySelector(".question")) return undefined;
    shownKey = key;
    since = performance.now();
    const isPage = question.side === "page";
    const isOnly = question.options.length === 1;
    const body = isPage ? wholePage(app, question) : h("ol", { class: isOnly ? "options single" : "options" }, question.options.map((option, k) => optionCard(app, question, option, k, isOnly)));
    const has = (partner) => question.options.some((one) => one.partner === partner);
    const tools = isPage
      ? pageButtons(app)
      : [
          has(question.now) ? button(isOnly ? "Yes" : "As it is", "Enter", () => choose(app, String(question.options.findIndex((one) => one.partner === question.now))), { id: "choose-now", class: "main" }) : null,
          button(isOnly ? "No" : "None of these", "x", () => choose(app, "none"), { id: "choose-none" }),
          has(null) ? null : button("The page ends here", "e", () => choose(app, "end"), { id: "choose-end" }),
        ];
    fill(
      main,
      h("section", { class: "question", "data-key": key, "data-side": question.side }, h("h1", { id: "question" }, heading(question)), h("p", { class: "facts" }, isPage ? [h("span", { class: "from", dir: "auto" }, app.info.shreds[question.shred].id), " to ", h("span", { class: "to", dir: "auto" }, app.info.shreds[question.last].id), ". Look at its left and right edges: is a word or a line cut off?"] : [h("span", { class: "from", dir: "auto" }, app.info.shreds[question.shred].id), ` · ${words.page(question.page + 1)}`]), body, h("div", { class: "bar actions" }, tools, button("Cannot tell", "q", () => choose(app, "cannot-tell"), { id: "choose-doubt" }), button("Later", " ", () => this.actions.later(app), { id: "choose-later" }), button("Open its page", "o", () => app.openShred(question.shred), { id: "choose-open" }), isPage ? null : button("Why", "w", () => this.actions.why(app), { id: "choose-why" }))),
    );
    return undefined;
  },
  enter() {
    shownKey = "";
    document.getElementById("choose-now")?.focus();
  },
  actions: {
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`take-${n}`, (app) => {
      if (app.state.disputes.length) return n <= 2 ? settle(app, ["mine", "theirs"][n - 1]) : undefined;
      const question = current();
      if (question?.side === "page") choose(app, ["whole", "left", "right", "both"][n - 1] ?? "");
      else if (question && n <= question.options.length) choose(app, String(n - 1));
      return undefined;
    }])),
    "as-is": (app) => {
      if (app.state.protests.length) return app.write("/api/keep", { of: app.state.protests[0].id });
      const question = current();
      if (!question) return undefined;
      const at = question.options.findIndex((one) => one.partner === question.now);
      return choose(app, question.side === "page" ? "whole" : at < 0 ? "none" : String(at));
    },
    none: (app) => (app.state.protests.length ? app.undo(app.state.protests[0].id) : current()?.side !== "page" && choose(app, "none")),
    end: (app) => {
      const question = current();
      if (!question || question.side === "page") return;
      const at = question.options.findIndex((one) => one.partner === null);
      choose(app, at < 0 ? "end" : String(at));
    },
    "cannot-tell": (app) => choose(app, "cannot-tell"),
    later: (app) => {
      const question = current();
      if (question) later.add(question.key);
      if ((queue?.questions ?? []).every((one) => later.has(one.key))) later.clear();
      app.refresh();
    },
    last: (app) => last && app.undo(),
    open: (app) => current() && app.openShred(current().shred),
    why: (app) => {
      const question = current();
      const option = question?.options.find((one) => one.partner !== null);
      if (!option) return;
      const pair = question.side === "right" ? [question.shred, option.partner] : [option.partner, question.shred];
      app.whyPair = pair;
      app.openShred(pair[0]);
    },
  },
};
