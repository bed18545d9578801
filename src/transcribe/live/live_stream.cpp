#include "transcribe/live/live_stream.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/try.h"
#include "flow/failures.h"
#include "transcribe/live/keyed_transcriber.h"
#include "transcribe/live/live_transcriber.h"
#include "transcribe/remote_windows.h"

namespace tutti {
namespace {

constexpr std::int64_t kMostWaiting = 30LL * kModelRate.value;  // samples
constexpr std::int64_t kLeastTaken = kModelRate.value / 20;
constexpr Seconds kMargin{8};        // of silence that a reading sees behind the audio, where more will follow
constexpr Seconds kLeastMore{0.65};  // of speech from one reading to the next
constexpr double kPerReading = 2.5;  // and so many times what a reading takes: devices are shared

Result<void> check_live(const SpeechOptions& options) {
  const auto refuse = [](const char* name) {
    return fail(Fault::usage, field(name) + ": live audio has none", "Leave it out");
  };
  if (options.batched) return refuse("batched");
  if (options.diarize) return refuse("diarize");
  if (options.replacements) return refuse("replace");
  if (options.long_form.words) return refuse("word_timestamps");
  if (!options.long_form.prefix.empty()) return refuse("prefix");
  if (options.long_form.clip_timestamps != LongFormOptions{}.clip_timestamps) return refuse("clip_timestamps");
  if (options.vad && options.vad->method == VadMethod::energy)
    return fail(Fault::usage,
                field("vad_method") + ": energy needs ten seconds of what follows; live audio has silero and keying");
  return check(options.vad.value_or(VadOptions{}));
}

/// Each reading has a text alone. One of speech may go on from a text that is fixed: then nothing may follow, and the
/// first token may be a blank.
SpeechOptions live_options(SpeechOptions options) {
  options.long_form.without_timestamps = true;
  options.decoding.timestamps = false;
  options.vad = options.vad.value_or(VadOptions{});
  if (options.vad->method != VadMethod::keying) options.decoding.suppress_blank = false;
  return options;
}

}  // namespace

SpeechOptions as_live(SpeechOptions options) {
  options.long_form.words.reset();
  options.diarize.reset();
  options.replacements.reset();
  options.vad = options.vad.value_or(VadOptions{});
  if (options.vad->method == VadMethod::energy)
    options.vad->method = options.keyed ? VadMethod::keying : VadMethod::silero;
  return options;
}

Result<std::unique_ptr<LiveStream>> LiveStream::start(DevicePool& pool, const ModelContext& model,
                                                      SpeechOptions options, std::uint64_t job,
                                                      CaptionListener& listener) {
  TRY(check_live(options));
  if (model.other)
    return fail(Fault::unsupported, "live audio: another engine reads whole windows alone, and its text has no words",
                "Take a model of our own engine");
  options = live_options(std::move(options));
  auto fitted = TRY(model.fit(options));
  return std::unique_ptr<LiveStream>(new LiveStream(pool, model, std::move(options), std::move(fitted), job, listener));
}

LiveStream::LiveStream(DevicePool& pool, const ModelContext& model, SpeechOptions options, FittedOptions fitted,
                       std::uint64_t job, CaptionListener& listener)
    : model_(model),
      options_(std::move(options)),
      fitted_(std::move(fitted)),
      listener_(listener),
      pooled_(pool, PoolJob{.id = job, .kind = JobClass::interactive}),
      more_(kLeastMore) {
  thread_ = std::jthread([this] { run(); });
}

LiveStream::~LiveStream() {
  cancel();
}

/// What comes behind a settlement waits until that is taken.
bool LiveStream::has_space(const Input& input) {
  return !input.over && !input.settles && std::ssize(input.pcm) < kMostWaiting;
}

bool LiveStream::offer(std::span<const std::int16_t> pcm) {
  bool taken = false;
  input_.change([&](Input& input) {
    taken = has_space(input);
    if (taken) input.pcm.insert(input.pcm.end(), pcm.begin(), pcm.end());
  });
  return taken;
}

bool LiveStream::feed(std::span<const std::int16_t> pcm) {
  bool over = false;
  while (!over && !offer(pcm))
    input_.wait([](const Input& input) { return input.over || has_space(input); },
                [&over](Input& input) { over = input.over; });
  return !over;
}

void LiveStream::settle() {
  input_.change([](Input& input) { input.settles = true; });
}

void LiveStream::finish() {
  input_.change([](Input& input) { input.ends = true; });
}

void LiveStream::cancel() {
  input_.change([](Input& input) { input.cancelled = true; });
  pooled_.engine().cancel();
}

void LiveStream::wait() {
  input_.wait([](const Input& input) { return input.over; }, [](Input&) {});
}

void LiveStream::run() {
  const auto end = [&]() -> Result<void> {
    try {
      return transcribe();
    } catch (...) {
      return tl::unexpected<Error>(error_of_exception("live audio"));
    }
  }();
  listener_.on_end(end);
  input_.change([](Input& input) { input.over = true; });
}

Result<void> LiveStream::transcribe() {
  const OnProgressOfFile no_progress{};
  const TranscriptionContext context =
      model_.context(pooled_.engine(), options_, fitted_, no_progress, /*rationed=*/true);
  // A reading that is repeated within a second must be quick.
  WindowService quick_windows = context.windows;
  quick_windows.shortened = {.margin = kMargin, .frames_per_window = context.model.frames_per_window};
  const auto decoder = [&](MelSource& mels, bool is_last) {
    return std::make_unique<RemoteWindows>(is_last ? context.windows : quick_windows, mels);
  };
  LiveModel parts{.tokenizer = model_.tokenizer,
                  .log_mel = context.log_mel,
                  .rules = fitted_.rules,
                  .input = context.model,
                  .decoder = decoder};
  std::unique_ptr<LiveReader> reader;
  if (options_.vad->method == VadMethod::keying)
    reader = std::make_unique<KeyedTranscriber>(std::move(parts), *options_.vad, listener_);
  else
    reader = std::make_unique<LiveTranscriber>(std::move(parts), *options_.vad, listener_);
  for (;;) {
    Input input = input_.wait(
        [](const Input& now) { return now.cancelled || now.ends || now.settles || std::ssize(now.pcm) >= kLeastTaken; },
        [](Input& now) {
          Input taken = std::exchange(now, {});
          now.ends = taken.ends;
          now.cancelled = taken.cancelled;
          return taken;
        });
    input_.change([](Input&) {});  // there is space again
    if (input.cancelled) return fail(Fault::cancelled, "live audio: cancelled");
    const bool ends = input.ends;
    if (auto read = take_and_read(std::move(input), *reader); !read) return read;
    if (ends) return {};
  }
}

Result<void> LiveStream::take_and_read(Input input, LiveReader& reader) {
  reader.take(input.pcm);
  if (input.ends) reader.end();
  const auto begun = Clock::real().now();
  const auto before = reader.readings();
  if (auto read = reader.advance(more_); !read) return read;
  if (input.settles)
    if (auto settled = reader.settle(); !settled) return settled;
  if (const auto readings = reader.readings() - before; readings > 0) {
    const Seconds took = (Clock::real().now() - begun) / static_cast<double>(readings);
    more_ = std::max(kLeastMore, kPerReading * took);
  }
  return {};
}

}  // namespace tutti
