#include "feed/voice/voice_builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/labelled/audio_reading.h"
#include "feed/packed/in_parallel.h"
#include "feed/prepared_set.h"
#include "feed/voice/speed_check.h"
#include "feed/voice/voice_sources.h"
#include "feed/voice/voice_writer.h"
#include "flow/pipeline.h"
#include "text/error_rate.h"
#include "text/normaliser.h"
#include "text/speech/front_end.h"
#include "text/text_encoding.h"

namespace tutti {
namespace {

using Progress = std::function<bool(std::int64_t, std::int64_t)>;

/// A clip of the set to be: a recording, or a string of digits.
struct PlannedClip {
  std::string name{};
  std::string text{};
  std::string key{};  ///< the words of the text: equal for texts that are read alike
  std::string speaker{};
  std::optional<VoicePart> part{};
  std::vector<std::int32_t> symbols{};
  const VoiceSource* source = nullptr;  ///< the one or the other
  const DigitString* digits = nullptr;
};

/// A clip that is made, or why there is none.
struct MadeClip {
  std::string name{};
  NewVoiceClip clip{};
  std::optional<SpeedTraits> speed{};  ///< of a recording whose speed can be recognised
  std::string problem{};
};

/// A clip that was written, as far as the set's totals count it.
struct WrittenClip {
  std::string name{};
  std::int32_t speaker = 0;
  VoicePart part = VoicePart::training;
  std::int64_t frames = 0;
  std::int64_t symbols = 0;
  std::optional<SpeedTraits> speed{};
};

/// The rate that most of some recordings have, as far as voices need it.
Hertz usual_rate(const std::vector<VoiceSource>& clips) {
  constexpr std::size_t kLooks = 50;
  constexpr Hertz kLeast{16000}, kMost{22050};
  std::map<Hertz, int> rates;
  const std::size_t step = std::max<std::size_t>(clips.size() / kLooks, 1);
  for (std::size_t i = 0; i < clips.size(); i += step)
    if (const auto facts = clips[i].problem.empty() ? header_facts(clips[i].audio, clips[i].member) : std::nullopt)
      ++rates[facts->rate];
  if (rates.empty()) return kLeast;
  return std::clamp(std::ranges::max_element(rates, {}, [](const auto& it) { return it.second; })->first, kLeast,
                    kMost);
}

Result<VoiceMelOptions> mel_options(const VoiceBuildOptions& options, const std::vector<VoiceSource>& clips) {
  auto mel = usual_voice_mel(options.rate.value_or(usual_rate(clips)));
  mel.n_fft = options.n_fft.value_or(mel.n_fft);
  mel.window = options.window.value_or(std::min(mel.window, mel.n_fft));
  mel.hop = options.hop.value_or(std::min(mel.hop, mel.window / 2));
  mel.n_mels = options.n_mels;
  TRY(check(mel));
  return mel;
}

Result<TextFrontEnd> front_end_of(const VoiceBuildOptions& options, const std::vector<VoiceSource>& clips) {
  const bool is_english = options.language == "en";
  const auto kind = options.kind.value_or(is_english ? SymbolKind::phonemes : SymbolKind::characters);
  if (kind == SymbolKind::phonemes && !is_english)
    return fail(Fault::usage, "phonemes are known for English only, and the language is '" + options.language + "'",
                "Take characters");
  if (kind == SymbolKind::phonemes) return english_front_end();
  std::vector<std::string> texts;
  for (const auto& clip : clips) texts.push_back(clip.text);
  return TextFrontEnd::characters(options.language, texts);
}

/// The words that a text is read as; empty for one that cannot be read.
std::string key_of(const TextFrontEnd& front_end, const std::string& text) {
  const auto read = front_end.read(text);
  return read ? joined(read->words, " ", &SpokenWord::text) : std::string();
}

Result<std::set<std::string>> excluded_keys(const TextFrontEnd& front_end, const std::filesystem::path& file) {
  std::set<std::string> keys;
  if (file.empty()) return keys;
  const auto texts = TRY(read_file(file));
  for (const auto line : split_lines(texts))
    if (!trimmed(line).empty()) keys.insert(key_of(front_end, std::string(trimmed(line))));
  return keys;
}

/// Why a clip in which a recogniser finds `found` cannot have this text; empty where it can. Words that a recogniser
/// invents are no reason: it invents them for sound audio, too.
std::string check_words(const std::string& text, const std::string& found, const VoiceBuildOptions& options) {
  const auto normalised = [&](const std::string& words) {
    return options.language == "en" ? normalise_english(words) : normalise_basic(words);
  };
  const auto rates = error_rates(std::vector{normalised(text)}, std::vector{normalised(found)});
  if (!rates || rates->words.reference() == 0) return {};
  const auto all = rates->words.reference();
  const auto share = [&](std::int64_t words) { return static_cast<double>(words) / static_cast<double>(all); };
  const auto missing = rates->words.deletions - rates->words.insertions;
  const auto others = rates->words.deletions + rates->words.substitutions;
  constexpr std::int64_t kLeast = 2;  // one short word is soon missed, and numbers are written as one
  const auto problem = [&](std::int64_t words, const char* what, double most) {
    return std::to_string(words) + " of its text's " + std::to_string(all) + " words are " + what +
           " its audio, expected at most " + number_text(100 * most) + " %; the model finds '" +
           std::string(trimmed(found)) + "'";
  };
  if (missing >= kLeast && share(missing) > options.most_missing_words)
    return problem(missing, "missing in", options.most_missing_words);
  if (others >= kLeast && share(others) > options.most_other_words)
    return problem(others, "others than those of", options.most_other_words);
  return {};
}

/// Builds one set. The steps of build_voice_set, in their order.
class Builder {
 public:
  Builder(const VoiceBuildOptions& options, const Progress& progress) : options_(options), progress_(progress) {}

  Result<VoiceBuildReport> build() {
    sources_ = TRY(find_voice_sources(options_.data, options_.speaker));
    report_.found = std::ssize(sources_.clips);
    report_.are_digits = sources_.are_digits;
    TRY(prepare());
    TRY(sources_.are_digits ? plan_digits() : plan_recordings());
    TRY(compare_words());
    TRY(split());
    TRY(make_clips());
    return std::move(report_);
  }

 private:
  Result<void> prepare() {
    const auto mel = TRY(mel_options(options_, sources_.clips));
    auto front_end = TRY(front_end_of(options_, sources_.clips));
    front_end_ = std::make_unique<TextFrontEnd>(std::move(front_end));
    excluded_ = TRY(excluded_keys(*front_end_, options_.exclude));
    ClipAudioOptions audio = options_.audio;
    audio.seed = options_.seed;
    constexpr double kDigitLevel = 0.08;
    audio.level = options_.level.value_or(sources_.are_digits ? kDigitLevel : 0);
    maker_ = std::make_unique<ClipMaker>(mel, audio);
    meter_ = std::make_unique<SpeedMeter>(mel);
    report_.mel = mel;
    report_.kind = name_of(front_end_->kind());
    return {};
  }

  /// The clip's text as symbols; or why it cannot be used.
  std::string read_text(PlannedClip& clip) {
    const auto read = front_end_->read(clip.text);
    if (!read) return read.error().what;
    clip.symbols = read->symbols;
    clip.key = joined(read->words, " ", &SpokenWord::text);
    report_.skipped.insert(read->skipped.begin(), read->skipped.end());
    if (std::ssize(clip.symbols) > options_.limits.most_symbols)
      return "its text has " + std::to_string(clip.symbols.size()) + " symbols, expected at most " +
             std::to_string(options_.limits.most_symbols);
    return {};
  }

  Result<void> plan_recordings() {
    for (const auto& source : sources_.clips) {
      PlannedClip clip{
          .name = source.id, .text = source.text, .speaker = source.speaker, .part = source.part, .source = &source};
      report_.missing += source.is_missing;
      const std::string problem = !source.problem.empty()        ? source.problem
                                  : trimmed(source.text).empty() ? "it has no text"
                                                                 : read_text(clip);
      if (!problem.empty()) {
        add_bad(clip.name, problem);
        continue;
      }
      if (excluded_.contains(clip.key))
        ++report_.excluded;
      else
        clips_.push_back(std::move(clip));
    }
    leave_out_repeated_rows();
    return {};
  }

  /// A recording is one clip. Of rows with the same words the first counts; where the words differ, which are spoken is
  /// not known, and none counts.
  void leave_out_repeated_rows() {
    const auto recording_of = [](const PlannedClip& clip) {
      const auto& [audio, member] = std::tie(clip.source->audio, clip.source->member);
      return std::tuple(audio.lexically_normal(), member ? member->begin : 0, clip.source->start, clip.source->end);
    };
    std::map<decltype(recording_of(clips_.front())), std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < clips_.size(); ++i) rows[recording_of(clips_[i])].push_back(i);
    std::vector<std::size_t> left_out;
    for (const auto& [recording, same] : rows) {
      const auto& first = clips_[same.front()];
      const bool agree = std::ranges::all_of(same, [&](std::size_t row) { return clips_[row].key == first.key; });
      for (std::size_t i = agree ? 1 : 0; same.size() > 1 && i < same.size(); ++i) {
        add_bad(clips_[same[i]].name, agree
                                          ? "its recording has a row before, with the same words"
                                          : "its recording has " + std::to_string(same.size()) +
                                                " rows with different texts: '" + first.text + "' and '" +
                                                clips_[same[i == 0 ? 1 : i]].text + "'; which is spoken is not known");
        left_out.push_back(same[i]);
      }
    }
    report_.listed_twice = std::ssize(left_out);
    std::ranges::sort(left_out);
    erase_at(clips_, left_out);
  }

  /// Leaves out clips whose words a recogniser does not find.
  Result<void> compare_words() {
    if (!options_.transcribe) return {};
    if (sources_.are_digits)
      return fail(Fault::usage, options_.data.string() + ": single digits have too few words to compare",
                  "Leave out " + field("check_model"));
    std::vector<const VoiceSource*> sources;
    for (const auto& clip : clips_) sources.push_back(clip.source);
    const auto found = TRY(options_.transcribe(sources));
    std::vector<PlannedClip> kept;
    for (std::size_t i = 0; i < clips_.size(); ++i) {
      const auto& text = found[i];
      const auto problem = text ? check_words(clips_[i].text, *text, options_) : std::string();
      if (problem.empty()) {
        kept.push_back(std::move(clips_[i]));
      } else {
        add_bad(clips_[i].name, problem);
        ++report_.other_words;
      }
    }
    clips_ = std::move(kept);
    return {};
  }

  /// Reads the single digits, and plans strings of those that can be used.
  Result<void> plan_digits() {
    std::vector<std::vector<float>> clips(sources_.clips.size());
    TRY(in_parallel(std::ssize(clips), options_.threads, [&](std::int64_t i) -> Result<void> {
      auto& source = sources_.clips[static_cast<std::size_t>(i)];
      auto audio = read_audio(source);
      if (!audio && !is_fault_of_file(audio.error())) return fail_in(source.audio.string(), audio.error());
      if (audio)
        clips[static_cast<std::size_t>(i)] = maker_->trimmed(audio->samples, Seconds(0));
      else
        source.problem = audio.error().what;
      return {};
    }));
    for (std::size_t i = 0; i < clips.size(); ++i) {
      if (!sources_.clips[i].problem.empty())
        add_bad(sources_.clips[i].id, sources_.clips[i].problem);
      else
        digits_.emplace(i, std::move(clips[i]));
    }
    DigitStringOptions wanted = options_.strings;
    wanted.seed = options_.seed;
    strings_ = draw_digit_strings(sources_.clips, wanted, excluded_);
    for (const auto& string : strings_) {
      PlannedClip clip{.name = string.name, .text = string.text, .speaker = string.speaker, .digits = &string};
      if (const auto problem = read_text(clip); !problem.empty())
        add_bad(clip.name, problem);
      else
        clips_.push_back(std::move(clip));
    }
    return {};
  }

  /// Gives every clip its part, whole texts at a time, and every speaker a number.
  Result<void> split() {
    if (clips_.empty())
      return fail(Fault::usage, options_.data.string() + ": not one of " + std::to_string(report_.found) +
                                    " recordings can be used" + (bad_.count() == 0 ? "" : ": " + bad_.first()));
    std::map<std::uint64_t, std::string> order;  // different texts, shuffled
    for (const auto& clip : clips_)
      if (!clip.part) order.emplace(mixed({options_.seed, digest(clip.key)}), clip.key);
    const double share = options_.validation_share * static_cast<double>(order.size());
    auto left = order.size() < 2 || share <= 0 ? 0 : std::max<std::int64_t>(std::llround(share), 1);
    std::set<std::string> validation;
    for (const auto& [hash, key] : order)
      if (left-- > 0) validation.insert(key);
    for (const auto& clip : clips_)  // of the data's own lists
      if (clip.part == VoicePart::validation) validation.insert(clip.key);
    std::set<std::string> speakers;
    for (auto& clip : clips_) {
      report_.repeated += clip.part == VoicePart::training && validation.contains(clip.key);
      if (!clip.part) clip.part = validation.contains(clip.key) ? VoicePart::validation : VoicePart::training;
      speakers.insert(clip.speaker);
    }
    report_.speakers = {speakers.begin(), speakers.end()};
    return {};
  }

  Result<MonoAudio> read_audio(const VoiceSource& source) const {
    thread_local MonoResampler resampler;
    ClipRange range;
    if (source.start) range.start = Seconds(*source.start);
    if (source.end) range.end = Seconds(*source.end);
    auto read = TRY(read_labelled_audio(source.audio, children_, range, source.member));
    if (!sources_.are_digits) TRY(check_clip(read.audio, source.text, options_.limits, options_.audio.trim_decibels));
    return resampler.convert(std::move(read.audio), report_.mel.rate);
  }

  Result<MadeClip> make_clip(const PlannedClip& planned) const {
    MadeClip made{.name = planned.name};
    std::vector<float> samples;
    if (planned.digits) {
      samples = join_digits(*planned.digits, digits_, report_.mel.rate);
    } else {
      const auto audio = read_audio(*planned.source);
      if (!audio && !is_fault_of_file(audio.error())) return fail_in(planned.source->audio.string(), audio.error());
      if (!audio) {
        made.problem = audio.error().what;
        return made;
      }
      samples = maker_->trimmed(audio->samples);
    }
    made.clip = maker_->features(std::move(samples), planned.name);
    made.clip.symbols = planned.symbols;
    made.clip.text = planned.text;
    made.clip.part = *planned.part;
    made.clip.speaker = static_cast<std::int32_t>(std::ranges::lower_bound(report_.speakers, planned.speaker) -
                                                  report_.speakers.begin());
    if (made.clip.pitch.size() < made.clip.symbols.size())
      made.problem = "its text has " + std::to_string(made.clip.symbols.size()) + " symbols, and its sound only " +
                     std::to_string(made.clip.pitch.size()) + " frames";
    if (planned.source) made.speed = meter_->traits_of(made.clip.mel, made.clip.pitch);
    return made;
  }

  Result<void> make_clips() {
    std::unique_ptr<VoiceSetWriter> writer;
    if (!options_.dry_run) writer = TRY(VoiceSetWriter::create(options_.out, report_.mel, options_.waveforms));
    Pipeline pipeline;
    WatchedRun unwatched;
    WatchedRun& watched = options_.watched ? *options_.watched : unwatched;
    std::size_t next = 0;
    auto numbers = pipeline.source("number", [&]() -> std::optional<Result<std::size_t>> {
      if (next == clips_.size()) return std::nullopt;
      return next++;
    });
    auto made = pipeline.map("make", std::move(numbers),
                             [&](std::size_t i) { return watched.measure(0, i, [&] { return make_clip(clips_[i]); }); },
                             {.threads = options_.threads, .order = Order::input});
    std::size_t done = 0;
    pipeline.sink("write", std::move(made), [&](const MadeClip& one) -> Result<void> {
      const std::size_t i = done++;
      if (!progress_(static_cast<std::int64_t>(done), std::ssize(clips_))) return fail(Fault::cancelled, "interrupted");
      return watched.measure(1, i, [&] { return take(one, writer.get()); });
    });
    if (auto ran = watched.run(pipeline); !ran) return ran;
    if (auto checked = leave_out_wrong_speeds(writer.get()); !checked) return checked;
    count_clips();
    if (report_.training == 0)
      return fail(Fault::usage, options_.data.string() + ": no clip is left to train on" +
                                    (bad_.count() == 0 ? "" : "; the first reason: " + bad_.first()));
    return writer ? publish(*writer) : Result<void>();
  }

  Result<void> take(const MadeClip& one, VoiceSetWriter* writer) {
    if (!one.problem.empty()) {
      add_bad(one.name, one.problem);
      return {};
    }
    written_.push_back({.name = one.name,
                        .speaker = one.clip.speaker,
                        .part = one.clip.part,
                        .frames = std::ssize(one.clip.pitch),
                        .symbols = std::ssize(one.clip.symbols),
                        .speed = one.speed});
    if (!writer) return {};
    auto appended = writer->append(one.clip);
    report_.size = writer->size();
    report_.waveforms = writer->waveform_size();
    return appended;
  }

  /// Which of a speaker's clips are played at another speed only shows beside the speaker's others.
  Result<void> leave_out_wrong_speeds(VoiceSetWriter* writer) {
    std::vector<std::size_t> left_out;
    for (std::int32_t speaker = 0; speaker < std::ssize(report_.speakers); ++speaker) {
      std::vector<std::size_t> clips;
      std::vector<const SpeedTraits*> traits;
      for (std::size_t i = 0; i < written_.size(); ++i) {
        if (written_[i].speaker != speaker || !written_[i].speed) continue;
        clips.push_back(i);
        traits.push_back(&*written_[i].speed);
      }
      for (const auto& [clip, speed] : wrong_speeds(traits)) {
        left_out.push_back(clips[clip]);
        add_bad(written_[clips[clip]].name,
                "its header states another sample rate than it was recorded at: its pitch and its spectrum are " +
                    fixed_text(speed, 2) + " times those of the other clips of " +
                    report_.speakers[static_cast<std::size_t>(speaker)]);
      }
    }
    std::ranges::sort(left_out);
    report_.wrong_speed = std::ssize(left_out);
    if (writer) TRY(writer->leave_out(left_out));
    erase_at(written_, left_out);
    return {};
  }

  void count_clips() {
    for (const auto& clip : written_) {
      ++(clip.part == VoicePart::training ? report_.training : report_.validation);
      report_.frames += clip.frames;
      report_.audio += length_of(clip.frames * report_.mel.hop, report_.mel.rate);
      report_.longest_text = std::max(report_.longest_text, clip.symbols);
    }
  }

  Result<void> publish(VoiceSetWriter& writer) {
    VoiceFormat format{.symbols = front_end_->symbols(),
                       .speakers = report_.speakers,
                       .language = front_end_->language(),
                       .kind = report_.kind,
                       .label = label()};
    TRY(bad_.write(options_.out));
    return writer.publish(std::move(format), front_end_->bytes());
  }

  /// What the user calls it; else what a teacher's corpus calls itself; else the folder's name.
  std::string label() const {
    if (!options_.label.empty()) return options_.label;
    const auto own = read_file(options_.data / "label.txt");
    return own ? std::string(trimmed(*own)) : resolved_path(options_.data).filename().string();
  }

  void add_bad(const std::string& id, const std::string& reason) {
    bad_.add(id, reason);
    report_.bad = bad_.count();
  }

  const VoiceBuildOptions& options_;
  const Progress& progress_;
  const ChildDecoder children_{};
  VoiceSources sources_{};
  VoiceBuildReport report_{};
  std::unique_ptr<TextFrontEnd> front_end_{};
  std::unique_ptr<ClipMaker> maker_{};
  std::unique_ptr<SpeedMeter> meter_{};
  std::set<std::string> excluded_{};
  std::vector<PlannedClip> clips_{};
  std::vector<WrittenClip> written_{};
  std::vector<DigitString> strings_{};
  std::map<std::size_t, std::vector<float>> digits_{};
  BadSampleList bad_{};
};

}  // namespace

Result<VoiceBuildReport> build_voice_set(const VoiceBuildOptions& options, const Progress& progress) {
  return Builder(options, progress).build();
}

}  // namespace tutti
