// The wire to the server on this computer: a bearer token, no cookie; writes are tried again until answered.

const KEY = "deshred-token";
const channel = new BroadcastChannel("deshred");
let token = sessionStorage.getItem(KEY);
export const connection = { gone: false, restarted: false, onchange: () => {} };
const PENDING = "deshred-pending";
let waiting = []; // for a new key, after the server was started again

channel.onmessage = ({ data }) => {
  if (data?.ask && token && !connection.gone) channel.postMessage({ token });
  if (data?.token && connection.restarted) adopt(data.token);
};

/** The board was started again and another tab has its key: go on with that. */
function adopt(found) {
  remember(found);
  connection.restarted = false;
  mark(false);
  const all = waiting;
  waiting = [];
  for (const one of all) one();
}

/** Wait until the server, which no longer knows our key, has given a new one to this browser. */
export function renewed() {
  connection.restarted = true;
  connection.gone = true;
  connection.onchange();
  return new Promise((resolve) => waiting.push(resolve));
}

const pending = () => JSON.parse(sessionStorage.getItem(PENDING) ?? "[]");
const keepPending = (list) => sessionStorage.setItem(PENDING, JSON.stringify(list));

/** Swap the code of the link for the key, or ask another tab for it. */
export async function login() {
  const code = location.hash.slice(1);
  if (code) {
    history.replaceState(null, "", "/");
    const response = await fetch("/api/login", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) });
    if (response.ok) {
      remember((await response.json()).token);
      channel.postMessage({ token });
    }
  }
  if (!token) remember(await askOtherTab());
  return Boolean(token);
}

function remember(found) {
  if (!found) return;
  token = found;
  sessionStorage.setItem(KEY, found);
}

function askOtherTab() {
  return new Promise((resolve) => {
    const answers = new BroadcastChannel("deshred");
    const stop = (found) => {
      answers.close();
      resolve(found);
    };
    answers.onmessage = ({ data }) => data?.token && stop(data.token);
    answers.postMessage({ ask: true });
    setTimeout(() => stop(null), 600);
  });
}

export class Refused extends Error {
  constructor(status, error) {
    super(error?.message ?? "the server refused.");
    this.status = status;
    this.kind = error?.kind;
    this.clash = error?.clash ?? [];
  }
}

async function request(path, options = {}) {
  const response = await fetch(path, { ...options, headers: { authorization: `Bearer ${token}`, ...options.headers } });
  if (response.ok) return response;
  const content = await response.json().catch(() => ({}));
  throw new Refused(response.status, content.error);
}

function mark(gone) {
  if (connection.gone !== gone && !(connection.restarted && !gone)) {
    connection.gone = gone;
    connection.onchange();
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function get(path) {
  try {
    const response = await request(path);
    mark(false);
    return await response.json();
  } catch (error) {
    if (!(error instanceof Refused)) mark(true);
    throw error;
  }
}

export async function getPicture(path) {
  const response = await request(path);
  const bitmap = await createImageBitmap(await response.blob());
  return { bitmap, indent: Number(response.headers.get("shred-indent") ?? 0) };
}

/** An id makes repeats harmless, so a write that got no answer is sent again, after a reload too. */
export async function post(path, content) {
  keepPending([...pending().filter((one) => one.content.id !== content.id), { path, content }]);
  try {
    return await send(path, content);
  } finally {
    keepPending(pending().filter((one) => one.content.id !== content.id));
  }
}

/** What a tab had said and got no answer for before it was closed or loaded anew. */
export async function sendPending() {
  const left = pending().filter((one) => one.content.id);
  for (const { path, content } of left) await post(path, content).catch(() => {});
  return left.length;
}

async function send(path, content) {
  for (let wait = 300; ; wait = Math.min(4000, wait * 2)) {
    try {
      const response = await request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content) });
      mark(false);
      return await response.json();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) await renewed();
      else if (error instanceof Refused) throw error;
      else {
        mark(true);
        await pause(wait);
      }
    }
  }
}

export const newId = () => crypto.randomUUID();
export const tab = newId(); // who is busy with a page
