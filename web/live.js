// The microphone: its audio goes over a WebSocket, and the text comes as it is spoken. What may still change is marked.
"use strict";

let live = null;  // {socket, context, microphone, segments, stopping}: what is spoken now
const LIVE_EVENT = "input_audio_transcription.";
const LONGEST = 84;  // characters of a segment: two lines of subtitles

/** A browser's WebSocket has no headers: the token is named among the protocols, escaped as their names must be. */
function liveSocket() {
  const url = new URL("v1/realtime?intent=transcription", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const key = encodeURIComponent(token).replace(/[()]/g, (sign) => "%" + sign.charCodeAt(0).toString(16));
  return new WebSocket(url, ["realtime", `openai-insecure-api-key.${key}`]);
}

function openedSocket(socket) {
  return new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onclose = () => reject(new Error("the server takes no live audio now"));
  });
}

function base64Of(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)));
}

async function speak() {
  if (live) return stopSpeaking();
  if (!navigator.mediaDevices) {  // browsers have it on https and on this machine alone
    $("speech-state").textContent = "a microphone needs https, or a server on this machine";
    return;
  }
  request?.abort();
  const own = live = { segments: [], stopping: false };
  fill($("transcript"), []);
  $("downloads").hidden = $("player").hidden = true;
  showSpeaking("the microphone is being opened …");
  try {
    own.microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
    own.context = new AudioContext();
    await own.context.audioWorklet.addModule("microphone.js");
    own.socket = liveSocket();
    await openedSocket(own.socket);
    own.socket.onclose = () => endSpeaking(own, own.stopping ? "" : "the server has ended it");
    own.socket.onmessage = (message) => onLiveEvent(own, JSON.parse(message.data));
    sendLive(own, "session.update", { session: { type: "transcription", audio: { input: {
      format: { type: "audio/pcm", rate: 24000 }, turn_detection: { type: "server_vad" },
      transcription: { model: "whisper-1", language: $("language").value } } } } });
    const worklet = new AudioWorkletNode(own.context, "microphone", { channelCount: 1, channelCountMode: "explicit" });
    worklet.port.onmessage = (message) => own.stopping || sendLive(own, "input_audio_buffer.append", { audio: base64Of(message.data) });
    own.context.createMediaStreamSource(own.microphone).connect(worklet);
    showSpeaking("speak …");
  } catch (error) {
    endSpeaking(own, error.message);
  }
}

function sendLive(own, type, more = {}) {
  if (own.socket.readyState === WebSocket.OPEN) own.socket.send(JSON.stringify({ type, ...more }));
}

/** The rest becomes final; then the socket is closed. */
function stopSpeaking() {
  if (live.stopping || !live.socket) return endSpeaking(live, "");
  live.stopping = true;
  showSpeaking("the last words …");
  sendLive(live, "input_audio_buffer.commit");
}

function onLiveEvent(own, event) {
  if (event.type === "error") {
    const is_empty = event.error.code === "input_audio_buffer_commit_empty";
    if (own.stopping || !is_empty) endSpeaking(own, is_empty ? "" : event.error.message);
  } else if (event.type === `tutti.${LIVE_EVENT}partial`) {
    showLive(own, event.text);
  } else if (event.type === `conversation.item.${LIVE_EVENT}delta`) {
    addText(own, event);
    showLive(own, "");
  } else if (event.type === `conversation.item.${LIVE_EVENT}completed`) {
    own.begins = true;
    if (own.stopping) endSpeaking(own, "");
  }
}

/** Final text goes into the last segment, or begins one where a sentence or a subtitle ends. */
function addText(own, event) {
  const last = own.segments.at(-1);
  if (!last || own.begins || /[.?!]$/.test(last.text) || last.text.length + event.delta.length > LONGEST)
    own.segments.push({ start: event.start, end: event.end, text: event.delta });
  else Object.assign(last, { end: event.end, text: last.text + event.delta });
  own.begins = false;
}

function showLive(own, open) {
  fill($("transcript"), [own.segments.map((segment) => segment.text.trim()).join(" ") + " ", el("em", { class: "open" }, open)]);
}

function endSpeaking(own, problem) {
  if (live !== own) return;
  live = null;
  for (const track of own.microphone?.getTracks() ?? []) track.stop();
  own.context?.close();
  own.socket?.close();
  showSpeaking(problem && `microphone: ${problem}`);
  if (own.segments.length === 0) return;
  showLive(own, "");
  transcript = { name: "live", segments: own.segments, text: own.segments.map((segment) => segment.text.trim()).join(" ") };
  $("downloads").hidden = false;
}

function showSpeaking(state) {
  $("speak").textContent = live ? "Stop" : "Speak";
  $("speak").setAttribute("aria-pressed", String(!!live));
  $("speech-state").textContent = state;
}

$("speak").addEventListener("click", speak);
