#include "feed/stages/sample_stages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "audio/pcm_samples.h"
#include "audio/tone_filter.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/stages/audio_files.h"
#include "feed/stages/pieces.h"
#include "feed/stages/sample_key.h"
#include "text/error_rate.h"
#include "text/normaliser.h"
#include "text/utf8.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

std::string seconds_text(double seconds) {
  return fixed_text(seconds, 2) + " s";
}

tl::unexpected<Error> too_long(double seconds, Seconds window) {
  return fail(Fault::corrupt,
              "lasts " + seconds_text(seconds) + ", the model's window is " + seconds_text(window.count()) +
                  ", and the times of its text are not known",
              "Give start and end, words or a transcript with times, or cut it with 'tutti prepare whisper'");
}

tl::unexpected<Error> must_not_be_cut(double seconds, Seconds window) {
  return fail(Fault::corrupt,
              "lasts " + seconds_text(seconds) + ", the model's window is " + seconds_text(window.count()) +
                  ", and long recordings are not to be cut",
              "Allow it with use-chunking");
}

/// Changes every time that is known of the row's text.
template <class How>
void change_times(PendingSample& row, How&& how) {
  for (auto* texts : {&row.times, &row.words})
    for (TimedText& text : *texts) {
      text.start = how(text.start);
      text.end = how(text.end);
    }
}

/// After a cut has moved its start.
void move_times(PendingSample& row, double by) {
  change_times(row, [by](double at) { return at - by; });
}

void append_words(const Transcript& transcript, std::vector<TimedText>& words) {
  for (const Segment& segment : transcript.segments)
    for (const Word& word : segment.words) words.push_back({word.start, word.end, word.word});
}

/// Those of the words that a piece holds, as often as its text has them.
std::vector<TimedText> words_within(const Transcript& transcript, const Piece& piece) {
  std::vector<TimedText> words;
  append_words(transcript, words);
  std::erase_if(words, [&](const TimedText& word) { return word.end <= piece.start || word.start >= piece.end; });
  return words;
}

/// The transcript of a line, if it names one that is there.
Result<Transcript> transcript_of(const DatasetLine& line) {
  const auto json = TRY(read_file(line.times));
  auto transcript = read_transcript_json(json);
  return transcript ? std::move(transcript) : fail_in(line.times.string(), transcript.error());
}

/// A line's own words as a transcript of one segment, which is cut between them. Where the words have no spaces and the
/// line's text has one between each two of them, they are put in.
Transcript transcript_of_words(const DatasetLine& line) {
  const auto word_text = [](const TimedText& word) { return std::string(trimmed(word.text)); };
  const bool lacks_spaces = trimmed(joined(line.words, "", &TimedText::text)) != trimmed(line.text) &&
                            joined(line.words, " ", word_text) == trimmed(line.text);
  Segment whole{.start = line.words.front().start, .end = line.words.back().end};
  for (const TimedText& word : line.words) {
    whole.words.push_back(
        {.word = lacks_spaces ? " " + word_text(word) : word.text, .start = word.start, .end = word.end});
    whole.text += whole.words.back().word;
    whole.end = std::max(whole.end, word.end);
  }
  return {.text = whole.text, .segments = {whole}, .language = {}};
}

/// How a text reads, without spaces: words with times may have none.
std::string characters_of(const std::string& text) {
  std::string characters = normalise_english(text);
  std::erase(characters, ' ');
  return characters;
}

/// What pieces would learn: the words, or the segments where these have none.
std::string text_of_pieces(const Transcript& cut_by) {
  std::string text;
  for (const Segment& segment : cut_by.segments) {
    for (const Word& word : segment.words) text += " " + std::string(trimmed(word.word));
    if (segment.words.empty()) text += " " + segment.text;
  }
  return text;
}

/// Fault::corrupt where the words or segments that a recording would be cut by are not those of its line's text: one of
/// the two is of another recording.
Result<void> check_same_text(const std::string& text, const Transcript& cut_by) {
  constexpr double kMostOther = 0.2;
  constexpr std::size_t kShown = 40;
  const std::string pieces = text_of_pieces(cut_by), own = characters_of(text), other = characters_of(pieces);
  if (own.empty() || own == other) return {};
  const auto rates = error_rates(std::vector{own}, std::vector{other});
  const double share = rates ? rates->cer() : 1;
  if (share <= kMostOther) return {};
  const auto start_of = [](const std::string& all) {
    const std::u32string start = to_code_points(trimmed(all));
    return "'" + to_utf8(start.substr(0, kShown)) + (start.size() > kShown ? "...'" : "'");
  };
  return fail(Fault::corrupt,
              "its text (" + start_of(text) + ") contradicts the words with times that it would be cut by (" +
                  start_of(pieces) + "): " + fixed_text(100 * share, 0) +
                  " % of the characters are others, expected 20 % at most",
              "Correct one of the two; the other may be left out");
}

/// The times by which a recording that is too long for the window is cut: those of the transcript that its line names,
/// else of the line's own words.
Result<Transcript> times_to_cut_by(const DatasetLine& line, double seconds, const FeedOptions& options) {
  std::error_code ignored;
  if (options.chunking == Chunking::refused) return must_not_be_cut(seconds, options.window);
  if (!line.times.empty() && std::filesystem::exists(line.times, ignored)) return transcript_of(line);
  if (line.words.empty()) return too_long(seconds, options.window);
  return transcript_of_words(line);
}

/// The first `frames` of each bin of `whole`.
void crop(std::span<const float> whole, std::int64_t n_mels, float* out, std::int64_t frames) {
  const std::int64_t stride = std::ssize(whole) / n_mels;
  for (std::int64_t bin = 0; bin < n_mels; ++bin) std::copy_n(whole.data() + bin * stride, frames, out + bin * frames);
}

std::uint64_t key_of(const FeedOptions& options, std::int64_t epoch, const std::string& id) {
  return sample_key(options.seed, epoch, id);
}

ClipRange range_of(const PendingSample& row) {
  ClipRange range;
  if (row.line.start) range.start = Seconds(*row.line.start);
  if (row.line.end) range.end = Seconds(*row.line.end);
  // The last piece ends with the recording as the manifest claims it, which rounds; its text ends before.
  if (row.planned.piece >= 0) range.slack = Seconds(1);
  return range;
}

/// Descriptors, or the system's memory, were used up by others than the sample.
void note_unread(PendingSample& row, Error why) {
  if (why.fault == Fault::exhausted)
    row.state = Shortage{std::move(why)};
  else
    row.state = BadSample{std::move(why)};
}

/// Notes the failure of a row whose file was read, and still is there. What is missing is what decodes it or changes
/// its rate, or a folder for what that writes; what is full is its disk. No other sample of its kind fares better.
void note_failure(PendingSample& row, Error why) {
  std::error_code ignored;
  const bool lacks =
      (why.fault == Fault::missing || why.fault == Fault::full) && std::filesystem::exists(row.line.audio, ignored);
  if (lacks)
    row.state = Shortage{std::move(why)};
  else
    row.state = BadSample{std::move(why)};
}

/// Bytes of another encoding are tokens, too: they would be learned in silence.
Result<void> check_text(const DatasetLine& line) {
  constexpr std::size_t kShown = 80;
  if (trimmed(line.text).empty() && !line.is_noise && line.times.empty())
    return fail(Fault::corrupt, "its text is missing");
  if (is_utf8(line.text)) return {};
  return fail(Fault::corrupt, "its text is not UTF-8: '" + replace_invalid_utf8(line.text.substr(0, kShown)) + "'",
              "Convert the file that lists it, for example with iconv -f latin1 -t utf-8");
}

}  // namespace

std::int32_t SampleStages::frames_of(std::int64_t samples) {
  return static_cast<std::int32_t>(std::max<std::int64_t>(samples / kHopSamples, 1));
}

Probed SampleStages::probe(Probed probed) const {
  if (probed.kind != Probed::Kind::sample) return probed;
  const auto line = set_.at(probed.index);
  const auto planned = line ? plan_of(probed, *line) : tl::unexpected<Error>(line.error());
  if (planned) {
    probed.samples = *planned;
  } else {
    probed.id = set_.id(probed.index);
    probed.bad = planned.error();
  }
  return probed;
}

/// Seconds of the line's recording.
Result<double> SampleStages::recording_seconds(std::int64_t index, const DatasetLine& line) const {
  if (line.duration) return *line.duration;
  std::call_once(has_lengths_,
                 [this] { lengths_ = std::vector<std::atomic<double>>(static_cast<std::size_t>(set_.size())); });
  std::atomic<double>& known = lengths_[static_cast<std::size_t>(index)];
  if (const double seconds = known.load(std::memory_order_relaxed); seconds > 0) return seconds;
  const auto seconds = seconds_of(line.audio, options_.window, line.member);
  if (seconds) known.store(*seconds, std::memory_order_relaxed);
  return seconds;
}

Result<std::vector<PlannedSample>> SampleStages::plan_of(const Probed& probed, const DatasetLine& line) const {
  TRY(check_text(line));
  Result<double> seconds = 0.0;
  if (line.start || line.end) {
    if (!line.end) return fail(Fault::corrupt, "a start without an end");
    seconds = *line.end - line.start.value_or(0);
    if (*seconds <= 0) return fail(Fault::corrupt, "ends at " + seconds_text(*line.end) + ", before it starts");
  } else {
    seconds = recording_seconds(probed.index, line);
  }
  TRY(seconds);
  const std::uint64_t key = key_of(options_, probed.epoch, line.id);
  const auto planned = [&](std::int32_t piece, double length) {
    const double faster = length / speed_within(key, length);
    return PlannedSample{probed.index, piece, frames_of(std::llround(faster * kModelRate.value))};
  };
  if (*seconds <= options_.window.count()) return std::vector{planned(-1, *seconds)};
  if (line.start || line.end) return too_long(*seconds, options_.window);
  const auto transcript = TRY(times_to_cut_by(line, *seconds, options_));
  TRY(check_same_text(line.text, transcript));
  const auto pieces = TRY(cut_pieces(transcript, *seconds, options_.window.count(), {options_.chunking, key}));
  std::vector<PlannedSample> samples;
  for (const Piece& piece : pieces)
    samples.push_back(planned(static_cast<std::int32_t>(samples.size()), piece.end - piece.start));
  return samples;
}

double SampleStages::speed_within(std::uint64_t key, double seconds) const {
  const double speed = speed_of(options_.augmentation, key);
  return seconds / speed <= options_.window.count() ? speed : 1;
}

void SampleStages::augment(PendingSample& row) const {
  const std::uint64_t key = key_of(options_, row.work->batch.epoch, row.line.id);
  auto& pcm = std::get<ClipPcm>(row.state);
  const double speed = speed_within(key, length_of(std::ssize(pcm), kModelRate).count());
  pcm = changed(std::move(pcm), audio_changes(options_.augmentation, speed, key));
  change_times(row, [speed](double at) { return at / speed; });
}

/// The text of what is not a whole line, and its times.
Result<void> SampleStages::add_text(PendingSample& row) const {
  DatasetLine& line = row.line;
  if (row.planned.piece >= 0) return add_piece(row);
  if (options_.times) row.words = std::move(line.words);
  if (line.times.empty() || (!options_.times && !line.text.empty())) return {};
  std::error_code ignored;
  if (!line.text.empty() && !std::filesystem::exists(line.times, ignored)) return {};
  const auto transcript = TRY(transcript_of(line));
  if (line.text.empty() && !line.is_noise) line.text = trimmed(transcript.text);
  if (line.text.empty() && !line.is_noise) return fail(Fault::corrupt, "its text is missing");
  for (const Segment& it : transcript.segments) row.times.push_back({it.start, it.end, std::string(trimmed(it.text))});
  append_words(transcript, row.words);
  return {};
}

/// The text and times of a piece of a long recording.
Result<void> SampleStages::add_piece(PendingSample& row) const {
  DatasetLine& line = row.line;
  const auto seconds = TRY(recording_seconds(row.planned.index, line));
  const auto transcript = TRY(times_to_cut_by(line, seconds, options_));
  auto pieces = TRY(cut_pieces(transcript, seconds, options_.window.count(),
                               {options_.chunking, key_of(options_, row.work->batch.epoch, line.id)}));
  Piece& piece = pieces.at(static_cast<std::size_t>(row.planned.piece));
  row.cut_start = piece.cut_start;
  row.cut_end = piece.cut_end;
  line.start = piece.start - (piece.cut_start ? kCutSearch : 0);
  line.end = piece.end + (piece.cut_end ? kCutSearch : 0);
  line.text = std::move(piece.text);
  line.id += "#" + std::to_string(row.planned.piece + 1);
  if (options_.times) row.words = words_within(transcript, piece);
  row.times = std::move(piece.times);
  move_times(row, *line.start);
  return {};
}

void SampleStages::read(PendingSample& row) const {
  auto line = set_.at(row.planned.index);
  if (!line) {
    row.line.id = set_.id(row.planned.index);
    return note_unread(row, line.error());
  }
  row.line = std::move(*line);
  if (auto added = add_text(row); !added) return note_unread(row, added.error());
  const bool is_part = (row.line.start || row.line.end) && is_large(row.line.audio, row.line.member);
  if (is_part) row.state = PartOfFile{};
  if (is_part && !cache_) return;
  auto bytes = read_bytes(row.line.audio, row.line.member);
  if (!bytes) return note_unread(row, bytes.error());
  if (auto cached = cache_ ? look_up(row, *bytes) : std::nullopt)  // by all bytes, also of a part
    row.state = std::move(*cached);
  else if (!is_part)
    row.state = std::move(*bytes);
}

/// Features depend on the file's content, the part of it, the shape, and the code.
std::optional<CachedFeatures> SampleStages::look_up(PendingSample& row, const WholeFile& bytes) const {
  const std::array<double, 6> parameters{feature_kind(options_),      static_cast<double>(options_.n_mels),
                                         row.line.start.value_or(-1), row.line.end.value_or(-1),
                                         row.cut_start ? 1.0 : 0.0,   row.cut_end ? 1.0 : 0.0};
  row.key = cache_key(bytes, parameters);
  auto cached = cache_->find(row.key);
  if (cached) {
    row.lead = cached->lead;
    move_times(row, row.lead);
  }
  return cached;
}

void SampleStages::decode(PendingSample& row) const {
  const ClipRange range = range_of(row);
  Result<NativeClip> clip;
  if (const auto* whole = std::get_if<WholeFile>(&row.state)) {
    MemoryBytes bytes(*whole);
    clip = decode_clip(bytes, range);
  } else {
    auto file = open_audio(row.line.audio);
    if (!file) return note_unread(row, file.error());
    auto bytes = bytes_of(*file, row.line.member);
    clip = decode_clip(bytes, range);
  }
  if (!clip && clip.error().fault == Fault::unsupported)
    clip = children_.decode(row.line.audio, range, row.line.member);
  if (clip)
    row.state = std::move(*clip);
  else
    note_failure(row, clip.error());
}

/// Moves the cuts of a piece to where it is quiet. The neighbour looks at the same audio and finds the same point.
void SampleStages::trim(PendingSample& row, ClipPcm& pcm) const {
  const std::int64_t search = 2 * samples_in(Seconds(kCutSearch), kModelRate), size = std::ssize(pcm);
  const std::int64_t first = row.cut_start ? quietest(pcm, 0, search) : 0;
  const std::int64_t last = row.cut_end ? std::max(quietest(pcm, size - search, size), first) : size;
  if (first == 0 && last == size) return;
  pcm.resize(static_cast<std::size_t>(last));
  pcm.erase(pcm.begin(), pcm.begin() + first);
  row.lead = static_cast<float>(length_of(first, kModelRate).count());
  move_times(row, row.lead);
}

void SampleStages::resample(PendingSample& row) {
  auto pcm = resamplers_.with(
      [&](ClipResampler& resampler) { return resampler.convert(std::move(std::get<NativeClip>(row.state))); });
  if (!pcm) return note_failure(row, pcm.error());
  trim(row, *pcm);
  const Seconds length = length_of(std::ssize(*pcm), kModelRate);
  if (length > options_.window)
    row.state = BadSample{too_long(length.count(), options_.window).value()};
  else
    row.state = std::move(*pcm);
}

/// Fills all `stride` frames of a row, more than hold audio. The clamp looks at every frame that does, those straddling
/// the end included, so a sample's features do not depend on how long its neighbours are.
Result<void> SampleStages::write_features(const SampleReader& audio, std::int32_t real, float* out,
                                          std::int64_t stride) const {
  const std::int64_t sounding = real + kStraddlingFrames;
  const std::int64_t mels = options_.n_mels;
  const auto silence = TRY(log_mel_.window_into(audio, 0, sounding, out, stride));
  for (std::int64_t bin = 0; bin < mels; ++bin)
    std::fill(out + bin * stride + sounding, out + (bin + 1) * stride, silence);
  return {};
}

/// Computed, and rounded as the cache rounds: a run yields the same whether its features were there or not.
Result<CachedFeatures> SampleStages::half_features(const SampleReader& audio, std::int32_t real,
                                                   const PendingSample& row) const {
  CachedFeatures made{real, static_cast<std::int32_t>(real + kStraddlingFrames), 0, row.lead, {}};
  std::vector<float> mel(static_cast<std::size_t>(options_.n_mels * made.frames));
  made.silence = TRY(log_mel_.window_into(audio, 0, made.frames, mel.data(), made.frames));
  made.mel.resize(mel.size());
  for (std::size_t i = 0; i < mel.size(); ++i) made.mel[i] = to_half(mel[i]);
  return made;
}

/// A cache that cannot be written costs later epochs their time, never a sample.
void SampleStages::keep(const CacheKey& key, const CachedFeatures& made) {
  if (has_failed_to_store_) return;
  const auto kept = cache_->store(key, made);
  if (kept || has_failed_to_store_.exchange(true)) return;
  log(Level::warning, "the cache of features takes nothing more: " + kept.error().text());
}

/// Has what a cache keeps of a row at hand; returns whether it was computed just now.
bool SampleStages::compute_rounded(PendingSample& row) const {
  const auto* pcm = std::get_if<ClipPcm>(&row.state);
  if (!pcm) return false;
  auto made = half_features(PcmSamples(*pcm), frames_of(std::ssize(*pcm)), row);
  if (made)
    row.state = std::move(*made);
  else
    row.state = BadSample{made.error()};
  return made.has_value();
}

std::optional<CachedFeatures> SampleStages::features_to_keep(PendingSample& row) const {
  compute_rounded(row);
  if (row.bad()) return std::nullopt;
  auto made = std::move(std::get<CachedFeatures>(row.state));
  row.state = FinishedRow{};
  describe(row, made.real);
  return made;
}

void SampleStages::features(PendingSample& row) {
  Batch& batch = row.work->batch;
  if (cache_ && compute_rounded(row)) keep(row.key, std::get<CachedFeatures>(row.state));
  if (row.bad()) return;
  const auto* cached = std::get_if<CachedFeatures>(&row.state);
  const std::int32_t real = cached ? cached->real : frames_of(std::ssize(std::get<ClipPcm>(row.state)));
  const bool has_window = !row.work->keeps_all_apart();
  const std::int64_t needed = real + kStraddlingFrames + 1;  // the last one is silent
  const std::int64_t stride = has_window ? std::max(batch.frames, needed) : needed;
  auto& own = row.work->apart[row.at];
  own.resize(has_window && stride == batch.frames ? 0 : static_cast<std::size_t>(batch.n_mels * stride));
  float* const planned = has_window ? batch.row(static_cast<std::int64_t>(row.at)) : nullptr;
  float* const out = own.empty() ? planned : own.data();
  if (cached)
    unpack(cached->mel.data(), cached->frames, cached->silence, batch.n_mels, out, stride);
  else if (auto written = write_features(PcmSamples(std::get<ClipPcm>(row.state)), real, out, stride); !written)
    return void(row.state = BadSample{written.error()});
  row.state = FinishedRow{};
  const std::uint64_t key = key_of(options_, batch.epoch, row.line.id);
  mask_spectrum(out, batch.n_mels, stride, real,
                spectrum_masks(options_.augmentation.spectrum, batch.n_mels, real, key));
  if (planned && !own.empty()) crop(own, batch.n_mels, planned, batch.frames);
  describe(row, real);
}

void SampleStages::hand_over(PendingSample& row) const {
  Batch& batch = row.work->batch;
  const std::uint64_t key = key_of(options_, batch.epoch, row.line.id);
  auto pcm = std::move(std::get<ClipPcm>(row.state));
  row.state = FinishedRow{};
  const double speed = speed_within(key, length_of(std::ssize(pcm), kModelRate).count());
  change_times(row, [speed](double at) { return at / speed; });
  const std::int32_t real = frames_of(samples_at_speed(std::ssize(pcm), speed));
  AudioChanges changes = audio_changes(options_.augmentation, speed, key);
  if (options_.keyed_tone) {  // which a device does not look for
    pcm = keyed_tone(changed(std::move(pcm), changes));
    changes = {};
  }
  std::get<BatchClips>(batch.content)[row.at] = {
      .pcm = std::move(pcm),
      .changes = std::move(changes),
      .masks = spectrum_masks(options_.augmentation.spectrum, batch.n_mels, real, key)};
  describe(row, real);
}

/// What the batch knows of a row that is done.
void SampleStages::describe(PendingSample& row, std::int32_t frames) const {
  row.work->batch.samples[row.at] = {.id = row.line.id,
                                     .text = row.line.text,
                                     .frames = frames,
                                     .times = std::move(row.times),
                                     .words = std::move(row.words),
                                     .audio = std::move(row.line.audio),
                                     .start = row.line.start.value_or(0) + row.lead,
                                     .begins = row.planned.piece <= 0,
                                     .fields = std::move(row.line.fields)};
}

}  // namespace tutti
