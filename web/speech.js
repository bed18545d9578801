// A file that is dropped on the page: its transcript as it comes, then beside its audio, with doubtful parts marked.
"use strict";

let transcript = null;
let request = null;  // the AbortController of the one in work
const DOUBTFUL = -0.8;  // mean log-probability of a segment's tokens

async function transcribe(file) {
  if (live) endSpeaking(live, "");
  request?.abort();  // its events would go on into the new one's transcript
  const own = request = new AbortController();
  const state = $("speech-state");
  state.textContent = `${file.name}: sent …`;
  fill($("transcript"), []);
  $("downloads").hidden = true;
  $("player").src = URL.createObjectURL(file);
  $("player").hidden = false;
  const form = new FormData();
  form.append("model", "whisper-1");
  form.append("response_format", "verbose_json");
  form.append("timestamp_granularities[]", "segment");
  form.append("timestamp_granularities[]", "word");
  form.append("stream", "true");
  form.append("language", $("language").value);
  form.append("file", file);
  try {
    const answer = await fetch($("task").value === "translate" ? "v1/audio/translations" : "v1/audio/transcriptions", { method: "POST", body: form, headers: headers(), signal: own.signal });
    if (!answer.ok) throw new Error((await answer.json()).error.message);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      if (own.signal.aborted) return;
      for (const part of parts) if (part.startsWith("data: ")) onEvent(JSON.parse(part.slice(6)), file.name);
    }
  } catch (error) {
    if (!own.signal.aborted) state.textContent = `${file.name}: ${error.message}`;
  }
}

function onEvent(event, name) {
  if (event.error) throw new Error(event.error.message);
  if (event.type === "transcript.text.delta") {
    $("transcript").append(event.delta);
    $("speech-state").textContent = `${name}: in work …`;
  }
  if (event.type !== "transcript.text.done") return;
  transcript = { name, ...event };
  $("speech-state").textContent = `${name}: ${length(event.duration)}, ${event.language}` +
    [...event.losses ?? [], ...event.notes ?? []].map((remark) => `; ${remark}`).join("");
  $("downloads").hidden = false;
  showWords();
}

/** The words with their times; a segment that the model is not sure of is marked. */
function showWords() {
  const doubtful = (time) => transcript.segments.some((segment) =>
    time >= segment.start && time < segment.end && segment.avg_logprob < DOUBTFUL);
  fill($("transcript"), transcript.words.flatMap((word) => [el("span",
    { "data-start": word.start, "data-end": word.end, class: doubtful(word.start) ? "doubtful" : null }, word.word), " "]));
}

$("transcript").addEventListener("click", (event) => {
  const start = event.target.dataset.start;
  if (start === undefined) return;
  $("player").currentTime = Number(start);
  $("player").play();
});

$("player").addEventListener("timeupdate", () => {
  const now = $("player").currentTime;
  for (const span of $("transcript").querySelectorAll("span"))
    span.classList.toggle("now", now >= Number(span.dataset.start) && now < Number(span.dataset.end));
});

function stamp(seconds, mark) {
  const ms = Math.round(seconds * 1000);
  const two = (value) => String(value).padStart(2, "0");
  return `${two(Math.floor(ms / 3600000))}:${two(Math.floor(ms / 60000) % 60)}:${two(Math.floor(ms / 1000) % 60)}${mark}` +
    String(ms % 1000).padStart(3, "0");
}

const WRITERS = {
  txt: () => transcript.segments.map((segment) => segment.text.trim()).join("\n") + "\n",
  srt: () => transcript.segments.map((segment, index) =>
    `${index + 1}\n${stamp(segment.start, ",")} --> ${stamp(segment.end, ",")}\n${segment.text.trim()}\n\n`).join(""),
  vtt: () => "WEBVTT\n\n" + transcript.segments.map((segment) =>
    `${stamp(segment.start, ".")} --> ${stamp(segment.end, ".")}\n${segment.text.trim()}\n\n`).join(""),
  json: () => JSON.stringify(transcript, null, 2) + "\n",
};

$("downloads").addEventListener("click", (event) => {
  const format = event.target.dataset.format;
  if (!format) return;
  save(new Blob([WRITERS[format]()], { type: "text/plain" }), transcript.name.replace(/\.[^.]*$/, "") + "." + format);
});

/** One recording is transcribed while one looks; several become jobs of the queue. */
async function take(files) {
  if (files.length <= 1) return files[0] && transcribe(files[0]);
  let accepted = 0;
  for (const file of files) {
    const form = new FormData();
    form.append("model", "whisper-1");
    form.append("response_format", "verbose_json");
    form.append("language", $("language").value);
    form.append("task", $("task").value);
    form.append("file", file);
    try {
      await api("v1/jobs", { method: "POST", body: form });
      accepted += 1;
      $("speech-state").textContent = `${accepted} of ${files.length} recordings are in the list`;
    } catch (error) {
      $("speech-state").textContent = `${file.name}: ${error.message}`;
      break;
    }
  }
  refresh();
}

$("file").addEventListener("change", () => take([...$("file").files]));
for (const kind of ["dragover", "dragleave", "drop"])
  document.addEventListener(kind, (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();  // the browser would open the file in place of the page
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind !== "drop") return;
    if (!$("drop-section").hidden) take([...event.dataTransfer.files]);
    else $("who").textContent = "transcribing needs a token, and a server with a model";
  });
