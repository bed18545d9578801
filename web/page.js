// The page of `tutti serve`. It reads /api and draws what it gets; it decides nothing. No library, no build step.
"use strict";

const $ = (id) => document.getElementById(id);
let token = sessionStorage.getItem("token") || "";

/** An element with attributes and children; texts are never read as HTML. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "width") node.style.width = value;  // the policy of the page allows no style attributes
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Replaces the children of a node only where they differ, so that focus and selection stay. */
function fill(node, children) {
  const fresh = document.createElement(node.tagName);
  fresh.append(...children);
  if (fresh.innerHTML !== node.innerHTML) node.replaceChildren(...fresh.childNodes);
}

function headers() {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function api(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: { ...headers(), ...options.headers } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error ? body.error.message : answer.statusText);
  return body;
}

function length(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":").replace(/^00:/, "");
}

function gigabytes(bytes) {
  return bytes === undefined || bytes === null ? "–" : (bytes / 2 ** 30).toFixed(1) + " GiB";
}

function share(value) {
  return value === undefined || value === null ? "–" : Math.round(value * 100) + " %";
}

const GOOD = ["healthy", "probing", "warming"], BAD = ["lost", "quarantine", "quarantined", "failed", "open"];

function tone(state) {
  return GOOD.includes(state) ? "good" : BAD.includes(state) ? "bad" : "warn";
}

async function act({ action, id, priority }) {
  try {
    await api(`/api/${action}?id=${encodeURIComponent(id)}` + (priority === undefined ? "" : `&priority=${priority}`),
              { method: "POST" });
  } catch (error) {
    alert(`${action}: ${error.message}`);
  }
  refresh();
}

function action(name, id) {
  return token ? el("button", { "data-action": name, "data-id": id }, name) : null;
}

function priority(job, step, sign) {
  return el("button", { "data-action": "priority", "data-id": job.id, "data-priority": job.priority + step,
    "aria-label": `${step > 0 ? "raise" : "lower"} the priority of ${job.name}` }, sign);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button) act(button.dataset);
});

// ---- devices and work --------------------------------------------------------------------------------------------

function deviceCard(device) {
  const row = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
  const foreign = device.foreign_load_ratio ?? 0, own = device.own_load_ratio ?? 0;
  const bar = el("div", { class: "bar", title: "own and foreign load" }, el("i", { width: `${own * 100}%` }),
                 el("i", { class: "foreign", width: `${foreign * 100}%` }));
  const most = device.most_windows ?? "–";
  const facts = el("dl", {},
    ...row("load, own / foreign", `${share(device.own_load_ratio)} / ${share(device.foreign_load_ratio)}`),
    ...row("memory, own / all", `${gigabytes(device.own_memory_bytes)} / ${gigabytes(device.total_memory_bytes)}`),
    ...row("windows", `${device.windows} / ${most}`),
    ...row("tasks", `${device.tasks}${device.most_tasks === undefined ? "" : " / " + device.most_tasks}`),
    ...row("speed", device.speed_audio_seconds_per_second === undefined ? "–"
      : device.speed_audio_seconds_per_second.toFixed(1) + " x"),
    ...row("power", device.power_watts === undefined ? "–" : Math.round(device.power_watts) + " W"),
    ...row("audio done", length(device.audio_done_seconds)));
  const drained = device.state.startsWith("drain");
  return el("div", { class: "card" }, el("h3", {}, device.name || device.id),
    el("p", { class: "reason" }, el("span", { class: `state ${tone(device.state)}` }, device.state),
       ` ${device.id}${device.reason ? ": " + device.reason : ""}${device.memory_limit ? "; " + device.memory_limit : ""}`),
    bar, facts, action(drained ? "resume" : "drain", device.id));
}

function jobRow(job) {
  const done = job.length_seconds ? Math.min(1, job.done_seconds / job.length_seconds) : 0;
  return el("div", { class: "job" }, el("strong", {}, job.name),
    el("div", { class: "bar" }, el("i", { width: `${(done * 100).toFixed(1)}%` })),
    el("span", { class: "faint" }, job.waiting_for || `${share(done)} of ${length(job.length_seconds)} on ${job.device}`),
    action("cancel", job.id) || el("span"));
}

function showStatus(status) {
  const fleet = status.fleet;
  const jobs = status.jobs;
  const counts = jobs ? `store: ${jobs.done} done, ${jobs.running} running, ${jobs.queued} queued, ${jobs.failed} failed` : "";
  const now = fleet ? `${fleet.running ?? 0} in work, ${fleet.done ?? 0} done` +
    (fleet.left_seconds === undefined ? "" : `, ${length(fleet.left_seconds)} left`) : "nothing runs";
  $("headline").textContent = [status.model, now, counts].filter(Boolean).join(" · ");
  $("drop-section").hidden = !(status.model && token);
  fill($("devices"), fleet && fleet.devices.length ? fleet.devices.map(deviceCard)
    : [el("p", { class: "faint" }, "No device is at work here: no batch runs on this store.")]);
  fill($("work"), fleet && fleet.in_work.length ? fleet.in_work.map(jobRow)
    : [el("p", { class: "faint" }, "Nothing is in work.")]);
}

/** Follows the status; where the server goes, it is looked for again every second. */
async function follow() {
  for (;;) {
    try {
      const answer = await fetch("/api/events", { headers: headers() });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop();
        const last = parts.filter((part) => part.startsWith("data: ")).pop();
        if (last) showStatus(JSON.parse(last.slice(6)));
        if (followed !== token) { reader.cancel(); break; }
      }
    } catch (error) {
      $("headline").textContent = "the server does not answer; trying again";
    }
    followed = token;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
let followed = token;

// ---- throughput --------------------------------------------------------------------------------------------------

const SPANS = [["5 min", 5], ["1 h", 60], ["24 h", 1440], ["7 d", 10080], ["30 d", 43200]];
let minutes = 5;

function line(samples, at, value, step, most) {
  let path = "", before = null;
  for (const sample of samples) {
    const x = 800 * (1 - (at - sample[0]) / (minutes * 60)), y = 195 - 190 * Math.min(1, value(sample) / most);
    const begins = before === null || sample[0] - before > 2.5 * step;
    path += `${begins ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}${begins ? "h.1" : ""}`;  // a lone sample is a dot
    before = sample[0];
  }
  return path;
}

async function showThroughput() {
  const data = await api(`/api/throughput?minutes=${minutes}`);
  const samples = data.samples, at = data.now_unix_seconds;
  const step = minutes <= 60 ? 5 : minutes <= 1440 ? 60 : 1800;
  const most = Math.max(1, ...samples.map((sample) => sample[1]));
  const svg = "http://www.w3.org/2000/svg";
  const paths = [["", (sample) => sample[1], most], ["busy", (sample) => sample[2] ?? 0, 1]].map(([kind, value, top]) => {
    const path = document.createElementNS(svg, "path");
    path.setAttribute("d", line(samples, at, value, step, top));
    if (kind) path.setAttribute("class", kind);
    return path;
  });
  $("chart").replaceChildren(...paths);
  $("chart-text").textContent = samples.length ? `Line: seconds of audio a second, up to ${most.toFixed(1)}. ` +
    "Dashes: share of the devices at work. Where nothing was seen there is a gap." : "Nothing was seen in this time.";
}

// ---- queue, runs, events -----------------------------------------------------------------------------------------

const OPEN = "running,queued,held,failed";  // what may want somebody's eye; of a large store the rest is long
const STATES = ["open", "all", "queued", "running", "failed", "done", "held", "cancelled"];
let state = "open", shown = [];

function jobButtons(job) {
  if (!token) return [];
  if (["failed", "cancelled"].includes(job.state)) return [action("retry", job.id)];
  if (job.state === "done" && job.has_result)
    return ["text", "srt", "vtt", "verbose_json"].flatMap((format) => [el("button", { "data-result": format, "data-id": job.id,
      "data-name": job.name }, format.replace("verbose_", "")), " "]);
  if (!["queued", "running", "held"].includes(job.state)) return [];
  const steps = job.state === "queued" && job.of_service ? [" ", priority(job, 1, "+"), " ", priority(job, -1, "−")] : [];
  return [action("cancel", job.id), ...steps];
}

/** Saves the transcript of a job. */
async function download({ result, id, name }) {
  const answer = await fetch(`/v1/jobs/${id}/result?response_format=${result}`, { headers: headers() });
  if (!answer.ok) return alert((await answer.json()).error.message);
  const ending = { text: "txt", verbose_json: "json" }[result] || result;
  save(await answer.blob(), `${name.replace(/\.[^.]*$/, "")}.${ending}`);
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

$("queue").addEventListener("click", (event) => {
  const button = event.target.closest("button[data-result]");
  if (button) download(button.dataset);
});

async function loadQueue(after) {
  const filter = state === "all" ? "" : `&state=${state === "open" ? OPEN : state}`;
  const data = await api(`/api/queue?limit=50&after=${after}${filter}`);
  shown = after ? shown.concat(data.jobs) : data.jobs;
  $("more").hidden = data.jobs.length < 50;
  $("more").onclick = () => loadQueue(data.next_after);
  fill($("queue"), shown.map((job) => el("tr", {}, el("td", { class: "name" }, job.name),
    el("td", {}, job.state === "running" ? `running, ${share(job.progress)}` : job.state,
       job.priority ? ` (priority ${job.priority})` : ""),
    el("td", {}, length(job.audio_seconds)), el("td", {}, job.why_waiting || job.error),
    el("td", {}, ...jobButtons(job)))));
  for (const button of $("states").children) {
    const count = data.counts[button.dataset.state];
    button.textContent = button.dataset.state + (count === undefined ? "" : ` ${count}`);
  }
}

function whereTimeWent(run) {
  const idle = {};
  let busy = 0;
  for (const device of run.devices) {
    busy += device.busy_seconds;
    for (const [why, seconds] of Object.entries(device.idle_seconds)) idle[why] = (idle[why] || 0) + seconds;
  }
  const all = busy + Object.values(idle).reduce((sum, seconds) => sum + seconds, 0);
  if (!all) return "";
  const most = Object.entries(idle).sort((a, b) => b[1] - a[1]).slice(0, 2).filter(([, seconds]) => seconds / all >= 0.01);
  return [`busy ${share(busy / all)}`, ...most.map(([why, seconds]) => `${why} ${share(seconds / all)}`)].join(", ");
}

async function showHistory() {
  const data = await api("/api/history?limit=30");
  const when = (seconds) => seconds ? new Date(seconds * 1000).toLocaleString() : "";
  fill($("runs"), data.runs.map((run) => el("tr", {}, el("td", {}, String(run.run)),
    el("td", {}, when(run.started_unix_seconds)), el("td", { class: "name" }, run.model.split("/").pop()),
    el("td", {}, run.total === null ? "in work, or stopped" : `${run.successful} of ${run.total}` +
       (run.failed ? `, ${run.failed} failed` : "")),
    el("td", {}, length(run.audio_seconds)),
    el("td", {}, run.duration_seconds && run.devices.length ? (run.audio_seconds / run.duration_seconds).toFixed(1) + " x" : ""),
    el("td", {}, whereTimeWent(run)))));
  fill($("events"), data.events.slice(-20).reverse().map((event) => el("li", {},
    el("span", { class: "faint" }, when(event.at_unix_seconds) + " "), `${event.device}: ${event.kind} ${event.text}`)));
  if (!token) return fill($("audit"), []);
  const audit = await api("/api/audit");
  fill($("audit"), audit.entries.slice(0, 20).map((entry) => el("li", {},
    el("span", { class: "faint" }, when(entry.at_unix_seconds) + " "),
    `${entry.action} ${entry.target}, by ${entry.address}${entry.error ? ": " + entry.error : ""}`)));
}

async function refresh() {
  await Promise.allSettled([showThroughput(), shown.length > 50 ? null : loadQueue(0), showHistory()]);
}

function choices(node, entries, chosen, choose) {
  fill(node, entries.map(([name, value]) => el("button", { "data-state": value, "aria-pressed": String(value === chosen()) }, name)));
  node.onclick = (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    choose(entries.find(([, value]) => String(value) === button.dataset.state)[1]);
    for (const other of node.children) other.setAttribute("aria-pressed", String(other === button));
    refresh();
  };
}

$("token").value = token;
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  sessionStorage.setItem("token", token);
  refresh();
});
choices($("spans"), SPANS, () => minutes, (value) => { minutes = value; });
choices($("states"), STATES.map((name) => [name, name]), () => state, (value) => { state = value; shown = []; });
follow();
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 5000);
