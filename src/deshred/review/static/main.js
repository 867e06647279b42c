// The shell: header, rail, keys, and one screen at a time. The server holds all that was said; a tab holds nothing.

import { connection, get, login, newId, post, Refused, renewed, sendPending } from "./api.js";
import { button, fill, h, say, shown } from "./dom.js";
import { actionFor, TABLE } from "./keys.js";
import { history } from "./history.js";
import { overview } from "./overview.js";
import { page } from "./page.js";
import { setCase } from "./pictures.js";
import { questions } from "./questions.js";
import { cardOf } from "./statements.js";
import { trays } from "./trays.js";
import { count, minutes, words } from "./words.js";

const SCREENS = { overview, questions, page, trays, history };

export const app = {
  info: null,
  state: null,
  screen: "overview",
  pageNumber: 0,
  shred: null, // the selected one, by index
  marked: new Set(), // shreds that are to be said to lie together or apart
  changed: new Set(), // pages that changed without a word of this tab's, until they are opened
  spoken: new Set(), // shreds of this tab's last statements
  actor: localStorage.getItem("deshred-name") ?? "",
  go,
  tell,
  send,
  undo: (of = "") => reverse("/api/undo", of ? { of } : {}),
  redo: () => reverse("/api/redo"),
  openShred,
  refresh: render,
};

function name() {
  return app.actor || words.somebody;
}

function go(screen) {
  if (app.screen !== screen) SCREENS[app.screen].leave?.(app);
  app.screen = screen;
  sessionStorage.setItem("deshred-screen", screen);
  render();
  SCREENS[screen].enter?.(app);
}

function openShred(index) {
  const found = app.state.pages.findIndex((one) => one.shreds.includes(index));
  if (found < 0) return;
  app.pageNumber = found;
  app.shred = index;
  go("page");
}

function tell(text, kind = "info") {
  say(text);
  const toast = h("div", { class: `toast ${kind}` }, text);
  document.querySelector(".toast")?.remove();
  document.getElementById("messages").append(toast);
  setTimeout(() => toast.remove(), kind === "info" ? 3500 : 8000);
}

/** Say something: [[kind, [shreds], value?], ...]. It is in the journal when this returns. */
async function send(action, statements, { unsay = [], told = "" } = {}) {
  return write("/api/events", { id: newId(), action, say: statements, unsay, actor: name() }, told);
}

async function reverse(path, content = {}) {
  const answer = await write(path, { id: newId(), actor: name(), ...content }, "");
  if (answer) tell(answer.event ? (path === "/api/undo" ? words.takenBack : words.doneAgain) : words.nothingToTakeBack);
  return answer;
}

export async function write(path, content, told) {
  app.spoken = new Set([...(content.say ?? []), ...(content.unsay ?? [])].flatMap((one) => one[1]));
  try {
    const answer = await post(path, content);
    take(answer.state ?? answer);
    if (told) tell(told);
    return answer;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.clash.length) showClash(error.message, error.clash, () => write(path, { ...content, id: newId() }, told));
    else tell(error.message, "problem");
    return null;
  }
}
app.write = (path, content, told = "") => write(path, { id: newId(), actor: name(), ...content }, told);

function take(state) {
  if (!state?.pages) return;
  noteChanges(app.state, state);
  const held = app.shred ?? app.state?.pages[app.pageNumber]?.shreds[0];
  app.state = state;
  const found = state.pages.findIndex((one) => one.shreds.includes(held));
  if (found >= 0) app.pageNumber = found;
  app.pageNumber = Math.max(0, Math.min(app.pageNumber, state.pages.length - 1));
  if (app.shred !== null && !state.pages[app.pageNumber].shreds.includes(app.shred)) app.shred = null;
  render();
}

const signature = (one) => one.shreds.join(" ");

/** Pages that are not what they were, and that this tab has said nothing about. */
function noteChanges(before, after) {
  if (!before) return;
  const known = new Set(before.pages.map(signature));
  for (const one of after.pages) {
    if (!known.has(signature(one)) && !one.shreds.some((index) => app.spoken.has(index))) app.changed.add(signature(one));
  }
}
app.isChanged = (one) => app.changed.has(signature(one));
app.opened = (one) => app.changed.delete(signature(one));

async function watch() {
  for (;;) {
    if (document.hidden) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      continue;
    }
    try {
      const found = await get(`/api/changes?version=${app.state.version}`);
      if (!found.same) take(found);
    } catch (error) {
      if (error instanceof Refused && error.status === 401) await renewed();
      else await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

function showLocked() {
  fill(document.getElementById("main"), h("div", { class: "empty" }, h("h1", {}, words.locked), h("p", {}, words.lockedWhy)));
}

/** What contradicts each other as pictures; taking back one of them sends what was refused once more. */
function showClash(message, clash, again) {
  const card = (one) => {
    const who = one.event ? `${one.by}, ${words.entry(one.number)}` : one.given ? words.givenBefore : words.justNow;
    const takeBack = async () => {
      box.close();
      if (await app.undo(one.event)) await again?.();
    };
    return cardOf(app, [one.kind, one.shreds], who, one.event ? button(again ? words.dropOld : words.takeBack, "", takeBack, { class: "drop" }) : null);
  };
  const box = dialog(words.clash, h("p", {}, message.charAt(0).toUpperCase() + message.slice(1).split("(")[0]), h("ul", { class: "stated-cards" }, clash.map(card)), h("p", { class: "facts" }, again ? words.clashHelp : words.refusedHelp));
  box.querySelector(".drop")?.focus();
}

export function dialog(title, ...content) {
  const close = () => box.remove();
  const box = h("dialog", { "aria-labelledby": "dialog-title" }, h("h2", { id: "dialog-title" }, title), ...content, h("p", { class: "row" }, button(words.close, "Escape", close)));
  box.addEventListener("close", close);
  document.body.append(box);
  box.showModal();
  return box;
}
app.dialog = dialog;

function help() {
  const tables = [app.screen, "everywhere"].map((name_) =>
    TABLE[name_].length ? h("section", {}, h("h3", {}, words.screens[name_] ?? words.everywhere), h("dl", { class: "keys" }, TABLE[name_].map(([key, , label]) => [h("dt", {}, h("kbd", {}, key === " " ? words.space : shown(key))), h("dd", {}, label)]))) : null,
  );
  dialog(words.allKeys, h("div", { class: "columns" }, tables));
}

function search() {
  const results = h("ul", { class: "results" });
  const input = h("input", { type: "search", id: "search", "aria-label": words.search, oninput: find, onkeydown: (event) => { if (event.key === "Escape") { event.preventDefault(); box.close(); } } });
  function find() {
    const wanted = input.value.trim().toLowerCase();
    const notes = new Map(app.state.notes.map(([shreds, text]) => [shreds[0], text]));
    const titles = new Map(app.state.pages.flatMap((sheet) => sheet.shreds.map((index) => [index, sheet.title])));
    const hits = wanted ? app.info.shreds.map((one, index) => ({ ...one, index })).filter((one) => `${one.id} ${one.source} ${notes.get(one.index) ?? ""} ${titles.get(one.index) ?? ""}`.toLowerCase().includes(wanted)) : [];
    fill(
      results,
      hits.slice(0, 30).map((one) => {
        const at = app.state.pages.findIndex((sheet) => sheet.shreds.includes(one.index));
        return h("li", {}, button(`${one.id} · ${at < 0 ? words.blank : words.page(at + 1)}`, "", () => { box.close(); at < 0 ? go("trays") : openShred(one.index); }));
      }),
    );
  }
  const box = dialog(words.search, input, results);
  input.focus();
}

async function exportAll() {
  tell(words.writing);
  const answer = await post("/api/export", {}).catch((error) => (tell(error.message, "problem"), null));
  if (answer) tell(words.written(answer.folder));
}

function header() {
  const { state, info } = app;
  const joins = state.pages.flatMap((one) => one.joins);
  const byPeople = joins.filter((one) => one.by).length;
  const tally = (verdict) => joins.filter((one) => one.verdict === verdict && !one.by).length;
  return [
    h("strong", { class: "name", dir: "auto" }, info.name),
    h("span", { class: "tally" }, `${count(state.pages.length, "page")}, ${count(info.inked, "shred")}`),
    h("span", { class: "tally", title: words.tally }, h("i", { class: "sure" }, "●"), ` ${tally("sure")} `, h("i", { class: "likely" }, "◆"), ` ${tally("likely")} `, h("i", { class: "open" }, "▲"), ` ${tally("open")} `, h("i", { class: "person" }, "■"), ` ${byPeople}`),
    h("span", { class: `proof ${state.proof.state.replace(" ", "-")}`, id: "proof", title: state.proof.message }, words.proof(state.proof)),
    h("span", { class: "grow" }),
    h("span", { class: "saved", title: state.head }, connection.gone ? words.notConnected : words.saved(state.head)),
    h("label", { class: "who" }, words.you, h("input", { id: "who", value: app.actor, placeholder: words.yourName, maxlength: 60, onchange: (event) => { app.actor = event.target.value.trim(); localStorage.setItem("deshred-name", app.actor); } })),
    button("↶", "", () => app.undo(), { id: "undo", title: `${words.takeBack} (Ctrl+Z)`, "aria-label": words.takeBack }),
    button("↷", "", () => app.redo(), { id: "redo", title: `${words.doAgain} (Ctrl+Shift+Z)`, "aria-label": words.doAgain }),
    button(words.export, "", exportAll, { id: "export", class: "main", title: "Ctrl+E" }),
    button("?", "", help, { id: "help", "aria-label": words.allKeys }),
  ];
}

function rail() {
  return Object.keys(SCREENS).map((screen, k) =>
    h("button", { type: "button", id: `go-${screen}`, "aria-current": app.screen === screen ? "page" : undefined, "aria-keyshortcuts": `Alt+${k + 1}`, title: `Alt+${k + 1}`, onclick: () => go(screen) }, words.screens[screen], badge(screen)),
  );
}

/** What waits for a word of the person, where it moves nothing else. */
function notices() {
  const { state } = app;
  const clash = state.clash.length ? button(words.showClash, "", () => showClash(state.proof.message, state.clash), { id: "show-clash", class: "notice" }) : null;
  const offer = state.offer ? button(words.offer(state.offer), "Control+Enter", () => app.write("/api/take", {}, words.taken), { id: "take-offer", class: "notice", title: words.offerWhy }) : null;
  return [clash, offer];
}

function badge(screen) {
  const { state } = app;
  if (screen === "questions") return h("span", { class: "badge" }, String(state.outlook.questions + state.protests.length));
  if (screen === "overview") return h("span", { class: "badge" }, String(state.pages.length));
  if (screen === "history") return h("span", { class: "badge" }, String(state.events));
  return null;
}

function render() {
  if (!app.state) return;
  fill(document.getElementById("header"), header());
  fill(document.getElementById("rail"), rail(), h("p", { class: "outlook" }, words.outlook(app.state.outlook, minutes)), notices());
  const main = document.getElementById("main");
  if (main.dataset.screen !== app.screen) {
    main.dataset.screen = app.screen;
    main.replaceChildren();
  }
  SCREENS[app.screen].show(app, main);
}

const EVERYWHERE = {
  help,
  search,
  undo: () => app.undo(),
  redo: () => app.redo(),
  export: exportAll,
  take: () => app.state.offer && app.write("/api/take", {}, words.taken),
  saved: () => tell(words.savedAll),
  back: () => (document.querySelector("dialog") ? document.querySelector("dialog").close() : SCREENS[app.screen].back?.(app) || go("overview")),
};

document.addEventListener("keydown", (event) => {
  if (!app.state || document.querySelector("dialog[open]")) return;
  const action = actionFor(event, app.screen);
  if (!action) return;
  event.preventDefault();
  if (event.repeat && !/left|right|up|down|larger|smaller/.test(action)) return;
  if (action.startsWith("go-")) go(action.slice(3));
  else if (SCREENS[app.screen].actions?.[action]) SCREENS[app.screen].actions[action](app);
  else EVERYWHERE[action]?.();
});
window.addEventListener("resize", () => render());

connection.onchange = () => {
  const banner = document.getElementById("banner");
  banner.hidden = !connection.gone;
  banner.textContent = connection.gone ? (connection.restarted ? words.restarted : words.gone) : "";
  render();
};

async function begin() {
  if (!(await login())) return showLocked();
  app.info = await get("/api/case");
  setCase(app.info.fingerprint);
  document.title = `${app.info.name} · deshred`;
  app.state = await get("/api/state");
  app.screen = sessionStorage.getItem("deshred-screen") ?? "overview";
  render();
  SCREENS[app.screen].enter?.(app);
  sendPending().then((sent) => sent && (tell(words.sentLate(sent)), get("/api/state").then(take)));
  if (!localStorage.getItem("deshred-seen")) {
    localStorage.setItem("deshred-seen", "1");
    dialog(words.welcome, h("ol", { class: "welcome" }, words.welcomeSteps.map((step) => h("li", {}, step))));
  }
  watch();
}

begin().catch((error) => (error instanceof Refused && error.status === 401 ? showLocked() : tell(String(error.message ?? error), "problem")));
