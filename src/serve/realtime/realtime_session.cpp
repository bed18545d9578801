#include "serve/realtime/realtime_session.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/field_names.h"

namespace tutti {
namespace {

using Json = nlohmann::json;
using Event = nlohmann::ordered_json;

constexpr std::uint16_t kGoingAway = 1001, kUnexpected = 1011;  // RFC 6455

ApiError invalid(std::string param, std::string message, std::string code = "invalid_value") {
  return {.status = 400, .message = std::move(message), .param = std::move(param), .code = std::move(code)};
}

std::int64_t milliseconds(double seconds) {
  return static_cast<std::int64_t>(seconds * 1000);
}

/// Null for an empty text.
Event text_or_null(const std::string& text) {
  return text.empty() ? Event() : Event(text);
}

SpeechOptions options_of(const SpeechOptions& usual, const RealtimeSettings& settings) {
  SpeechOptions options = as_live(usual);
  if (!settings.language.empty()) options.long_form.language = settings.language;
  if (!settings.prompt.empty()) options.long_form.initial_prompt = settings.prompt;
  return options;
}

}  // namespace

RealtimeSession::RealtimeSession(const RealtimeEndpoint& endpoint, std::string id,
                                 std::shared_ptr<LiveSessions::Admission> admission)
    : endpoint_(endpoint), id_(std::move(id)), admission_(std::move(admission)) {
  settings_.model = endpoint_.models.own();
}

RealtimeSession::~RealtimeSession() {
  admission_->leave();
}

void RealtimeSession::begin(std::shared_ptr<SocketExchange> exchange) {
  exchange_ = std::move(exchange);
  send({{"type", "session.created"}, {"session", session_json(settings_, id_)}});
  admission_->enter(*this);
}

void RealtimeSession::gone() {
  live_.with([](Live& live) {
    live.ends = true;
    if (live.stream) live.stream->cancel();
  });
}

bool RealtimeSession::is_over() const {
  return live_.with([](const Live& live) { return !live.stream || live.stream->is_over(); });
}

void RealtimeSession::finish(LiveEnd why) {
  why_ended_ = why;
  live_.with([this](Live& live) {
    live.ends = true;
    if (live.stream)
      live.stream->finish();
    else
      close_ended();
  });
}

bool RealtimeSession::take(std::string_view message, bool is_text) {
  if (!waiting_.empty()) return offer();
  if (!is_text) {
    send_error(invalid("", "expected an event in JSON, found a binary message", "invalid_message"), "");
    return true;
  }
  const Json event = Json::parse(message.data(), message.data() + message.size(), nullptr, /*allow_exceptions=*/false);
  if (const auto error = handle(event)) send_error(*error, text_of(member_of(event, "event_id")));
  return waiting_.empty() || offer();
}

bool RealtimeSession::offer() {
  const bool taken = live_.with([this](Live& live) { return live.ends || live.stream->offer(waiting_); });
  if (!taken) return false;
  admission_->add_audio(length_of(std::ssize(waiting_), kModelRate));
  waiting_.clear();
  return true;
}

std::optional<ApiError> RealtimeSession::handle(const Json& event) {
  const std::string type = text_of(member_of(event, "type"));
  if (type.empty()) return invalid("type", "expected an event: an object of JSON with a type", "invalid_message");
  if (type == "session.update" || type == "transcription_session.update")
    return update(type, member_of(event, "session"));
  if (type == "input_audio_buffer.append") return append(member_of(event, "audio"));
  if (type == "input_audio_buffer.commit") return commit();
  constexpr std::size_t kShown = 60;
  return invalid("type", "'" + type.substr(0, kShown) +
                             "': expected session.update, input_audio_buffer.append or input_audio_buffer.commit");
}

std::optional<ApiError> RealtimeSession::update(const std::string& type, const Json& session) {
  RealtimeSettings changed = settings_;
  if (auto error = update_settings(changed, session, endpoint_.models)) return error;
  // The session shows the language that is used.
  if (!changed.language.empty() && endpoint_.service.languages().empty()) changed.language = "en";
  if (pcm_ && !changed.same_audio(settings_))
    return invalid("session.audio.input", "format, language and prompt cannot change once audio has come");
  settings_ = std::move(changed);
  detects_turns_ = settings_.detects_turns;
  send({{"type", type == "session.update" ? "session.updated" : "transcription_session.updated"},
        {"session", session_json(settings_, id_)}});
  return std::nullopt;
}

std::optional<ApiError> RealtimeSession::append(const Json& audio) {
  if (!audio.is_string()) return invalid("audio", "audio: expected base64 of 16-bit samples");
  const auto bytes = base64_decoded(audio.get_ref<const std::string&>());
  if (!bytes) return invalid("audio", "audio: expected base64, found other text");
  if (bytes->size() % sizeof(std::int16_t) != 0)
    return invalid("audio", "audio: expected whole 16-bit samples, found " + std::to_string(bytes->size()) + " bytes");
  if (!pcm_)
    if (auto failed = start_stream()) return failed;
  has_audio_ = has_audio_ || !bytes->empty();
  if (auto fed = pcm_->feed(std::as_bytes(std::span(*bytes))); !fed) return api_error_of(fed.error(), "audio");
  return std::nullopt;
}

std::optional<ApiError> RealtimeSession::commit() {
  if (!std::exchange(has_audio_, false))
    return invalid("", "the audio buffer is empty: nothing was appended since the last commit",
                   "input_audio_buffer_commit_empty");
  live_.with([](Live& live) { live.stream->settle(); });
  return std::nullopt;
}

std::optional<ApiError> RealtimeSession::start_stream() {
  const FieldNamesScope names(FieldNames::fields);
  auto stream = endpoint_.service.listen(options_of(endpoint_.usual, settings_), *this);
  if (!stream) return api_error_of(stream.error(), "session.audio.input.transcription");
  live_.with([&](Live& live) {
    live.stream = std::move(*stream);
    if (live.ends) live.stream->finish();
  });
  pcm_ = std::make_unique<PcmStream>("audio", Hertz{settings_.rate}, [this](std::span<const std::int16_t> pcm) {
    waiting_.insert(waiting_.end(), pcm.begin(), pcm.end());
    return Result<void>();
  });
  return std::nullopt;
}

std::string RealtimeSession::open_item(double at) {
  if (!item_.is_open) item_ = {.last = item_.last + 1, .is_open = true, .start = at};
  return item_id(item_.last);
}

void RealtimeSession::on_speech_started(double at) {
  if (!detects_turns_) return;
  const std::string id = open_item(at);
  send({{"type", "input_audio_buffer.speech_started"}, {"audio_start_ms", milliseconds(at)}, {"item_id", id}});
}

void RealtimeSession::on_partial(const Caption& caption) {
  const std::string id = open_item(caption.start);
  send({{"type", "tutti.input_audio_transcription.partial"},
        {"item_id", id},
        {"content_index", 0},
        {"start", caption.start},
        {"end", caption.end},
        {"text", caption.text}});
}

void RealtimeSession::on_final(const Caption& caption) {
  const std::string id = open_item(caption.start);
  std::string delta = caption.text;
  if (item_.transcript.empty() && delta.starts_with(' ')) delta.erase(0, 1);
  item_.transcript += delta;
  item_.end = caption.end;
  send({{"type", "conversation.item.input_audio_transcription.delta"},
        {"item_id", id},
        {"content_index", 0},
        {"start", caption.start},
        {"end", caption.end},
        {"delta", delta}});
}

void RealtimeSession::on_settled(double at, bool is_requested) {
  if (is_requested) {
    open_item(at);
    complete_item(at);
  } else if (detects_turns_ && item_.is_open) {
    send({{"type", "input_audio_buffer.speech_stopped"},
          {"audio_end_ms", milliseconds(at)},
          {"item_id", item_id(item_.last)}});
    complete_item(at);
  }
}

void RealtimeSession::complete_item(double at) {
  item_.is_open = false;
  const std::string id = item_id(item_.last);
  const Event previous = item_.last == 1 ? Event() : Event(item_id(item_.last - 1));
  send({{"type", "input_audio_buffer.committed"}, {"previous_item_id", previous}, {"item_id", id}});
  Event content = Event::array();
  content.push_back(Event{{"type", "input_audio"}, {"transcript", nullptr}});
  const Event described{{"id", id},       {"object", "realtime.item"}, {"type", "message"}, {"status", "completed"},
                        {"role", "user"}, {"content", content}};
  send({{"type", "conversation.item.added"}, {"previous_item_id", previous}, {"item", described}});
  send({{"type", "conversation.item.done"}, {"previous_item_id", previous}, {"item", described}});
  send({{"type", "conversation.item.input_audio_transcription.completed"},
        {"item_id", id},
        {"content_index", 0},
        {"transcript", item_.transcript},
        {"usage", {{"type", "duration"}, {"seconds", std::max(0.0, at - item_.start)}}}});
}

void RealtimeSession::on_end(const Result<void>& end) {
  if (!end && end.error().fault != Fault::cancelled) {
    send_error(api_error_of(end.error(), "audio"), "");
    return exchange_->close(kUnexpected, "the audio cannot be transcribed any further");
  }
  if (end && item_.is_open) complete_item(std::max(item_.start, item_.end));
  close_ended();
}

void RealtimeSession::close_ended() {
  exchange_->close(kGoingAway, why_ended_ == LiveEnd::cancelled ? "cancelled at the server" : "the server is stopping");
}

void RealtimeSession::send(Event event) {
  event["event_id"] = "event_" + id_ + "_" + std::to_string(++events_);
  exchange_->send(json_line(event));
}

void RealtimeSession::send_error(const ApiError& error, const std::string& event_id) {
  constexpr int kFirstOfOurs = 500;
  send({{"type", "error"},
        {"error",
         {{"type", error.status < kFirstOfOurs ? "invalid_request_error" : "server_error"},
          {"code", text_or_null(error.code)},
          {"message", error.message},
          {"param", text_or_null(error.param)},
          {"event_id", text_or_null(event_id)}}}});
}

}  // namespace tutti
