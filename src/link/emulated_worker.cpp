#include "link/emulated_worker.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/units.h"
#include "device/emulated_load.h"
#include "link/connection.h"
#include "link/shared_window.h"
#include "link/wire.h"

namespace tutti {
namespace {

template <class Number>
bool read(std::string_view text, Number& into) {
  const auto value = number_in<Number>(text);
  into = value.value_or(Number{});
  return value.has_value();
}

bool read(std::string_view text, Seconds& into) {
  const auto value = number_in<double>(text);
  into = Seconds(value.value_or(0));
  return value.has_value();
}

bool read(std::string_view text, std::string& into) {
  into = text;
  return true;
}

std::string ids_text(const std::vector<std::int32_t>& ids) {
  return joined(ids, ".", [](std::int32_t id) { return std::to_string(id); });
}

bool read(std::string_view text, std::vector<std::int32_t>& into) {
  into.clear();
  for (const auto part : split(text, '.'))
    if (!read(part, into.emplace_back())) return false;
  return true;
}

bool read(std::string_view text, std::vector<std::vector<std::int32_t>>& into) {
  into.clear();
  for (const auto word : split(text, ','))
    if (!read(word, into.emplace_back())) return false;
  return true;
}

bool read(std::string_view text, std::vector<EmulatedFailure>& into) {
  into.clear();
  for (const auto part : split(text, ',')) {
    auto failure = parse_failure(std::string(part));
    if (!failure) return false;
    into.push_back(*failure);
  }
  return true;
}

using Readers = std::map<std::string, std::function<bool(std::string_view)>, std::less<>>;

Readers readers_of(EmulatedPart& part) {
  const auto into = [](auto& field) { return [&field](std::string_view text) { return read(text, field); }; };
  EmulatedCard& card = part.card;
  EmulatedSpeech& speech = part.speech;
  return {{"build", into(part.build_id)},
          {"speed", into(card.speed)},
          {"memory", into(card.memory.value)},
          {"slots", into(card.slots)},
          {"jitter", into(card.jitter)},
          {"warm-up", into(card.warm_up)},
          {"time", into(card.time)},
          {"seed", into(card.seed)},
          {"born", into(card.born)},
          {"uuid", into(card.uuid)},
          {"failures", into(card.failures)},
          {"n-mels", into(speech.n_mels)},
          {"n-audio-ctx", into(speech.n_audio_ctx)},
          {"n-text-ctx", into(speech.n_text_ctx)},
          {"n-vocab", into(speech.n_vocab)},
          {"timestamp-begin", into(speech.timestamp_begin)},
          {"languages", into(speech.languages)},
          {"words", into(speech.words)},
          {"stop", into(speech.stop)}};
}

}  // namespace

std::vector<std::string> words_of(const EmulatedPart& part) {
  const EmulatedCard& card = part.card;
  const EmulatedSpeech& speech = part.speech;
  return {"build=" + part.build_id,
          "speed=" + number_text(card.speed),
          "memory=" + std::to_string(card.memory.value),
          "slots=" + std::to_string(card.slots),
          "jitter=" + number_text(card.jitter),
          "warm-up=" + number_text(card.warm_up.count()),
          "time=" + number_text(card.time),
          "seed=" + std::to_string(card.seed),
          "born=" + std::to_string(card.born),
          "uuid=" + card.uuid,
          "failures=" + joined(card.failures, ",", text_of),
          "n-mels=" + std::to_string(speech.n_mels),
          "n-audio-ctx=" + std::to_string(speech.n_audio_ctx),
          "n-text-ctx=" + std::to_string(speech.n_text_ctx),
          "n-vocab=" + std::to_string(speech.n_vocab),
          "timestamp-begin=" + std::to_string(speech.timestamp_begin),
          "languages=" + ids_text(speech.languages),
          "words=" + joined(speech.words, ",", ids_text),
          "stop=" + ids_text(speech.stop)};
}

Result<EmulatedPart> part_of(const std::vector<std::string>& words) {
  EmulatedPart part;
  const Readers readers = readers_of(part);
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const auto reader = readers.find(word.substr(0, equals));
    if (equals == word.npos || reader == readers.end() || !reader->second(std::string_view(word).substr(equals + 1)))
      return fail(Fault::usage, "emulated-worker: '" + word.substr(0, 60) + "' is none of its arguments");
  }
  if (part.speech.words.empty()) return fail(Fault::usage, "emulated-worker: expected words=..., found none");
  return part;
}

namespace {

constexpr double kWordsPerFrame = 0.025;  // 2.5 a second
constexpr std::int32_t kWordsPerSentence = 10;

}  // namespace

std::uint64_t content_of(std::span<const float> mel) {
  std::uint64_t sum = mel.size();
  for (const float value : mel) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    sum = (sum ^ bits) * 0x100000001b3U;
  }
  return split_mixed(sum);
}

std::vector<std::int32_t> emulated_text(const EmulatedSpeech& speech, std::uint64_t content, std::int32_t frames,
                                        bool timestamps, std::int32_t max_tokens) {
  const auto words = std::max(1, static_cast<std::int32_t>(std::lround(frames * kWordsPerFrame)));
  const std::int32_t last_step = frames / 2;  // timestamps count 0.02 s, frames 0.01 s
  const auto time_at = [&](std::int32_t word) { return speech.timestamp_begin + last_step * word / words; };
  std::vector<std::int32_t> tokens;
  for (std::int32_t first = 0; first < words; first += kWordsPerSentence) {
    const std::int32_t behind = std::min(words, first + kWordsPerSentence);
    std::vector<std::int32_t> sentence;
    if (timestamps) sentence.push_back(time_at(first));
    for (std::int32_t word = first; word < behind; ++word) {
      const auto& ids = speech.words[split_mixed(content + static_cast<std::uint64_t>(word)) % speech.words.size()];
      sentence.insert(sentence.end(), ids.begin(), ids.end());
    }
    sentence.insert(sentence.end(), speech.stop.begin(), speech.stop.end());
    if (timestamps) sentence.push_back(time_at(behind));
    if (tokens.size() + sentence.size() > static_cast<std::size_t>(std::max(0, max_tokens))) break;
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
  }
  return tokens;
}

namespace {

using Kind = EmulatedFailure::Kind;

constexpr double kEncoderShare = 0.2;  // share of a window's time; the rest is its first decoding
constexpr std::chrono::milliseconds kShowEvery{200};

struct Window {
  std::uint64_t content = 0;
  std::int32_t frames = 0;
};

class EmulatedWorker {
 public:
  explicit EmulatedWorker(EmulatedPart part)
      : part_(std::move(part)),
        connection_(OwnedFd(kWorkerSocket), "the control process"),
        random_(part_.card.seed),
        started_(age()) {}

  int run() {
    send(Hello{.build_id = part_.build_id, .device_uuid = part_.card.uuid});
    for (;;) {
      auto packet = connection_.receive(patience());
      if (!packet) return 0;
      if (*packet && !handle(**packet)) return 9;
      misbehave();
      work_on();
      show_load();
    }
  }

 private:
  static Clock::Instant now() { return Clock::real().now(); }

  /// The age of the GPU, by its own clock.
  Seconds age() const {
    const auto born = Clock::Instant(std::chrono::nanoseconds(part_.card.born));
    return Seconds(now() - born) / part_.card.time;
  }

  void send(const ToControl& message) {
    if (!connection_.send(encode_message(message))) ::_exit(0);
  }

  /// Until the next answer is due or the next failure is.
  std::optional<Seconds> patience() const {
    std::optional<Seconds> least;
    const auto within = [&](Seconds time) { least = std::max(Seconds(0), std::min(least.value_or(time), time)); };
    if (!work_.empty() && !stalled_) within(work_until_next() - Seconds(now() - worked_at_));
    for (const auto& failure : part_.card.failures)
      if (failure.at > done_until_) within((failure.at - age()) * part_.card.time);
    return least;
  }

  bool handle(Connection::Packet& packet) {
    auto message = decode_to_worker(packet.message);
    if (!message) return false;
    if (hung_) return true;
    memory_ = std::move(packet.fd);
    std::visit([&](const auto& order) { obey(order); }, *message);
    return true;
  }

  /// Enters what the GPU will say once it has worked for `cost` of its seconds on this. Everything in work gets an
  /// equal share of it, as the sequences of a batch do.
  void later(Seconds cost, ToControl message) {
    work_on();
    const double share = 1 + part_.card.jitter * std::uniform_real_distribution<>(-1, 1)(random_);
    work_.emplace(share_done_ + cost * share, std::move(message));
  }

  /// Real time from `worked_at_` until the next piece of work is done, if none comes in between.
  Seconds work_until_next() const {
    return (work_.begin()->first - share_done_) * static_cast<double>(work_.size()) * part_.card.time;
  }

  /// Works until now and sends what is done.
  void work_on() {
    const auto at = now();
    while (!work_.empty() && !stalled_) {
      const Seconds needed = work_until_next();
      const Seconds there_is = at - worked_at_;
      if (there_is < needed) {
        share_done_ += there_is / (static_cast<double>(work_.size()) * part_.card.time);
        break;
      }
      worked_at_ += std::chrono::duration_cast<Clock::Instant::duration>(needed);
      share_done_ = work_.begin()->first;
      send(work_.extract(work_.begin()).mapped());
    }
    worked_at_ = at;
  }

  Seconds cost_of(std::int32_t frames) const { return Seconds(frames / kFramesPerSecond / part_.card.speed); }

  /// The failures that have come due since the last call. Those from before this process began are over, but for a
  /// device that is still lost.
  void misbehave() {
    const Seconds age_now = age();
    for (const auto& failure : part_.card.failures) {
      if (failure.at > age_now || failure.at <= done_until_) continue;
      if (failure.kind == Kind::lost && is_away(failure, age_now)) leave();
      if (failure.at <= started_) continue;
      if (failure.kind == Kind::die) ::kill(::getpid(), SIGKILL);
      if (failure.kind == Kind::hang) hung_ = stalled_ = true;
      if (failure.kind == Kind::stall) stalled_ = true;
      if (failure.kind == Kind::garble && !connection_.send("\xff\xff nonsense")) ::_exit(0);
      if (failure.kind == Kind::exhaust) exhausted_ = true;
    }
    done_until_ = age_now;
  }

  /// Shows the load on the fake driver's GPU, where it sits on one. Not oftener than it is sampled.
  void show_load() {
    if (!load_ || now() - shown_at_ < kShowEvery) return;
    const std::pair load(!work_.empty(), windows_.size());
    if (load == shown_ && shown_at_ != Clock::Instant{}) return;
    const auto windows = EmulatedCard::kWindow.value * static_cast<std::int64_t>(windows_.size());
    const auto memory = std::min(part_.card.memory.value, EmulatedCard::kModel.value + windows);
    if (const auto shown = load_->set(Bytes{memory}, load.first ? 1 : 0); !shown) load_.reset();
    shown_ = load;
    shown_at_ = now();
  }

  static bool is_away(const EmulatedFailure& failure, Seconds age_now) {
    return failure.lasts == Seconds(0) || age_now < failure.at + failure.lasts;
  }

  [[noreturn]] void leave() {
    send(Failed{.fault = Fault::device, .what = "the device is lost (GPU has fallen off the bus)"});
    ::_exit(1);
  }

  void obey(const LoadModel& order) {
    misbehave();
    const Seconds window = cost_of(2 * part_.speech.n_audio_ctx) * part_.card.time;
    later(part_.card.warm_up, Ready{.device_name = "emulated",
                                    .compute_type = order.compute_type,
                                    .n_mels = part_.speech.n_mels,
                                    .n_audio_ctx = part_.speech.n_audio_ctx,
                                    .n_text_ctx = part_.speech.n_text_ctx,
                                    .n_vocab = part_.speech.n_vocab,
                                    .slots = part_.card.windows(),
                                    .load_seconds = part_.card.warm_up.count(),
                                    .window_seconds = order.time_a_window ? window.count() : 0});
  }

  void obey(const OpenWindow& order) {
    const auto values = static_cast<std::size_t>(order.n_mels) * static_cast<std::size_t>(order.frames);
    const auto view = WindowView::map(std::move(memory_), values);
    if (!view) return later(Seconds(0), failed(order.window, 0, view.error()));
    if (std::exchange(exhausted_, false))
      return later(Seconds(0), failed(order.window, 0, {Fault::exhausted, "out of memory", ""}));
    windows_[order.window] = {content_of(view->values()), order.frames};
    const Seconds cost = cost_of(order.frames) * kEncoderShare;
    later(cost, Opened{.window = order.window, .encode_seconds = cost.count() * part_.card.time});
  }

  void obey(const DetectLanguage& order) {
    Language language{.window = order.window, .tokens = part_.speech.languages};
    language.probabilities.assign(language.tokens.size(), 0.0F);
    if (!language.probabilities.empty()) language.probabilities.front() = 1.0F;
    later(Seconds(0), std::move(language));
  }

  void obey(const DecodeWindow& order) {
    const Window window = windows_[order.window];
    const Seconds cost = cost_of(window.frames) * (1 - kEncoderShare);
    Decoded decoded{.window = order.window,
                    .request = order.request,
                    .tokens = emulated_text(part_.speech, window.content, window.frames, order.decoding.timestamps,
                                            order.max_tokens)};
    decoded.steps = static_cast<std::int32_t>(decoded.tokens.size()) + 1;
    decoded.avg_logprob = -0.25;
    decoded.sum_logprob = decoded.avg_logprob * decoded.steps;
    decoded.no_speech_prob = 0.01F;
    decoded.seconds = cost.count() * part_.card.time;
    decoded.shared_steps = decoded.sequence_steps = decoded.steps;
    if (order.decoding.token_logprobs) decoded.token_logprobs.assign(static_cast<std::size_t>(decoded.steps), -0.25F);
    later(cost, std::move(decoded));
  }

  void obey(const AlignWindow& order) {
    Aligned aligned{.window = order.window, .request = order.request};
    const auto tokens = static_cast<std::int32_t>(order.text_tokens.size());
    for (std::int32_t token = 0; token <= tokens; ++token)
      aligned.starts.push_back(order.frames / 2 * token / std::max(1, tokens));
    aligned.probabilities.assign(order.text_tokens.size(), 0.9F);
    later(Seconds(0), std::move(aligned));
  }

  void obey(const TranscribeWindow& order) {
    later(Seconds(0), failed(order.window, 0, {Fault::unsupported, "no PCM is taken here", ""}));
  }

  void obey(const AnalyzeSpeakers& order) {
    later(Seconds(0), failed(order.window, 0, {Fault::unsupported, "an emulated device finds no speakers", ""}));
  }

  void obey(const ReleaseWindow& order) { windows_.erase(order.window); }
  void obey(const Ping& order) { send(Pong{order.sequence}); }

  static Failed failed(WindowId window, std::uint64_t request, const Error& error) {
    return {.window = window, .request = request, .fault = error.fault, .what = error.what};
  }

  const EmulatedPart part_;
  Connection connection_;
  std::mt19937_64 random_;
  const Seconds started_;   // age of the GPU when this process began
  Seconds done_until_{-1};  // failures up to this age are over
  OwnedFd memory_;          // came beside the message
  std::map<WindowId, Window> windows_;
  std::multimap<Seconds, ToControl> work_;  // by the share at which it is done
  Seconds share_done_{0};                   // share of the GPU's time that each piece of work has had since the start
  Clock::Instant worked_at_ = now();        // until when that counts
  std::unique_ptr<EmulatedLoad> load_ = EmulatedLoad::on(part_.card.uuid);
  Clock::Instant shown_at_{};
  std::pair<bool, std::size_t> shown_{};  // whether it works, and its windows
  bool hung_ = false;
  bool stalled_ = false;
  bool exhausted_ = false;
};

}  // namespace

bool is_emulated_worker(int argc, const char* const* argv) {
  return argc > 1 && argv[1] == kEmulatedWorkerCommand;
}

int emulated_worker_main(int argc, const char* const* argv) {
  auto part = part_of({argv + 2, argv + argc});
  if (!part) {
    log(Level::error, part.error().text());
    return 2;
  }
  return EmulatedWorker(std::move(*part)).run();
}

}  // namespace tutti
