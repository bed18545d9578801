#include "serve/voice/voice_endpoint.h"

#include <array>
#include <cstdio>
#include <utility>

#include "base/base64.h"
#include "base/json.h"
#include "serve/openai/api_error.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// A text with the numbers of its characters beyond ASCII, "U+2605", as a header may have it.
std::string in_ascii(const std::string& text) {
  std::string ascii;
  for (const char32_t c : to_code_points(text)) {
    constexpr char32_t kAscii = 0x80;
    if (c < kAscii) {
      ascii += static_cast<char>(c);
      continue;
    }
    std::array<char, 12> number{};
    std::snprintf(number.data(), number.size(), "U+%04X", static_cast<unsigned>(c));
    ascii += number.data();
  }
  return ascii;
}

}  // namespace

std::string speech_events(std::string_view audio, const std::string& text) {
  constexpr std::size_t kPiece = 24576;  // a multiple of 3: pieces of base64 join without padding in between
  std::string events;
  const auto add = [&](const nlohmann::ordered_json& event) { events += "data: " + json_line(event) + "\n\n"; };
  for (std::size_t at = 0; at < audio.size(); at += kPiece)
    add({{"type", "speech.audio.delta"}, {"audio", base64_of(audio.substr(at, kPiece))}});
  const auto characters = to_code_points(text).size();
  add({{"type", "speech.audio.done"},
       {"usage", {{"input_tokens", characters}, {"output_tokens", 0}, {"total_tokens", characters}}}});
  return events;
}

/// Gathers the JSON of one request, then has its text spoken.
class VoiceEndpoint::Body final : public HttpBody {
 public:
  explicit Body(VoiceEndpoint& endpoint) : endpoint_(endpoint) {}

  tl::expected<void, HttpAnswer> take(std::string_view bytes) override {
    constexpr std::size_t kMost = 128 << 10;  // 4096 characters, escaped each, and the rest
    json_ += bytes;
    if (json_.size() <= kMost) return {};
    return tl::unexpected<HttpAnswer>(answer_of({.status = 413, .message = "the body is larger than 128 KiB"}));
  }

  void complete(std::shared_ptr<HttpExchange> exchange) override {
    auto request = read_voice_request(json_, endpoint_.voice_.speakers());
    if (!request) return exchange->answer(answer_of(request.error()));
    if (!endpoint_.names().contains(request->model))
      return exchange->answer(answer_of(endpoint_.names().missing(request->model)));
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    exchange->on_gone([gone] { *gone = true; });
    endpoint_.speak_later(std::move(*request), gone, exchange);
  }

 private:
  VoiceEndpoint& endpoint_;
  std::string json_{};
};

VoiceEndpoint::Begun VoiceEndpoint::begin(const HttpHead& head, bool draining) {
  if (head.method != "POST") return not_allowed("POST");
  if (draining) return answer_of({.status = 503, .message = "the server is stopping", .retry_after = Seconds(5)});
  return std::make_unique<Body>(*this);
}

void VoiceEndpoint::speak_later(VoiceRequest request, std::shared_ptr<std::atomic<bool>> gone,
                                const std::shared_ptr<HttpExchange>& exchange) {
  // Counted from here until its answer is made, or until it is dropped unanswered.
  ++in_work_;
  const std::shared_ptr<void> counted(nullptr, [this](void*) { --in_work_; });
  speaking_.answer(exchange, [this, request = std::move(request), gone = std::move(gone), counted] {
    return speak(request, *gone);
  });
}

std::vector<MetricSnapshot> VoiceEndpoint::metrics() const {
  const auto ended = [](const char* outcome, std::uint64_t count) {
    return MetricSnapshot{
        {"tutti_speech_requests_total", {{"outcome", outcome}}}, "texts to be spoken that ended", count};
  };
  return {{{"tutti_speech_requests"}, "texts that are spoken or wait for it", static_cast<double>(in_work_.load())},
          ended("done", done_),
          ended("failed", failed_),
          {{"tutti_speech_characters_total"}, "characters of the texts that were spoken", characters_.load()}};
}

HttpAnswer VoiceEndpoint::speak(const VoiceRequest& request, const std::atomic<bool>& gone) {
  auto spoken = voice_.speak(request, [&] { return !gone && !over_; });
  ++(spoken ? done_ : failed_);
  if (!spoken) return answer_of(spoken.error());
  characters_ += to_code_points(request.text).size();
  HttpAnswer answer =
      request.events ? HttpAnswer{.type = "text/event-stream; charset=utf-8",
                                  .body = speech_events(spoken->audio, request.text),
                                  .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}}
                     : HttpAnswer{.type = std::string(media_type(request.format)), .body = std::move(spoken->audio)};
  name_ignored(answer, request.ignored);
  std::vector<std::string> left_out;
  for (const auto& text : spoken->left_out) left_out.push_back(in_ascii(text));
  add_list_header(answer, "x-tutti-left-out", left_out, " ");
  return answer;
}

}  // namespace tutti
