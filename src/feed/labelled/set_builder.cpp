#include "feed/labelled/set_builder.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <regex>
#include <utility>

#include "audio/augment/effects.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/hdf5/hdf5_file.h"
#include "feed/labelled/audio_reading.h"
#include "feed/labelled/feature_spool.h"
#include "feed/labelled/labelled_files.h"
#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_waveforms.h"
#include "feed/packed/in_parallel.h"
#include "feed/prepared_set.h"

namespace tutti {
namespace {

constexpr int kOutOfWaterDb = 1, kMostGainDb = 200;
constexpr double kLongestClip = 10;    // seconds
constexpr double kLengthShare = 0.95;  // this share of the clips is not longer than the geometry's

/// A file while the set is built.
struct BuiltFile {
  LabelledFile file{};
  std::string problem{};             // why it is left out; empty: it is not
  std::vector<SpooledClip> clips{};  // one or more where there is no problem
  std::uint64_t surrogate_key = 0;   // of what it is a surrogate by; 0: it is the file itself
};

/// Takes a group from every name, where the names or the user's expression give one. Returns whether they do.
Result<bool> find_groups(const SetBuildOptions& options, std::vector<BuiltFile>& files, bool by_sensor) {
  if (!options.group.empty()) {
    std::regex expression;
    try {
      expression.assign(options.group);
    } catch (const std::regex_error& error) {
      return fail(Fault::usage, field("group") + ": '" + options.group + "' is no regular expression: " + error.what());
    }
    for (auto& one : files) {
      std::smatch match;
      if (!std::regex_search(one.file.name, match, expression))
        return fail(Fault::usage, field("group") + ": '" + options.group + "' matches nothing of " + one.file.name,
                    "Name an expression that matches every path below the data's folder");
      one.file.group = match[match.size() > 1 ? 1 : 0];
    }
    return true;
  }
  if (std::ranges::none_of(files, [](const BuiltFile& one) { return one.file.group.empty(); })) return true;
  std::map<std::string, std::map<std::string, bool>> sensors;  // by label
  for (auto& one : files) {
    const auto name = sensor_name_of(one.file.path, options.delimiter);
    if (!name) {
      one.file.group = one.file.name;
      continue;
    }
    one.file.group = name->sensor;
    sensors[one.file.label][name->sensor] = true;
  }
  if (!by_sensor) return false;
  constexpr std::size_t kEnoughSensors = 3;  // one a part
  const bool few = std::ranges::any_of(sensors, [](const auto& it) { return it.second.size() < kEnoughSensors; });
  for (auto& one : files)
    if (const auto name = sensor_name_of(one.file.path, options.delimiter); few && name)
      one.file.group = name->sensor + options.delimiter + name->recording;
  return true;
}

/// Whether nearly all names have the note's form.
bool are_sensor_names(const std::vector<BuiltFile>& files, const std::string& delimiter) {
  const auto named = std::ranges::count_if(
      files, [&](const BuiltFile& one) { return sensor_name_of(one.file.path, delimiter).has_value(); });
  return 10 * named >= 9 * std::ssize(files);
}

/// Names a file that is left out, where that is requested.
void log_left_out(const SetBuildOptions& options, const BuiltFile& one, const std::string& why) {
  if (options.verbose) log(Level::info, one.file.name + ": left out: " + why);
}

/// Leaves out files whose names say that their gain cannot be used.
void leave_out_by_gain(const SetBuildOptions& options, std::vector<BuiltFile>& files, SetBuildReport& report) {
  std::erase_if(files, [&](const BuiltFile& one) {
    const auto name = sensor_name_of(one.file.path, options.delimiter);
    if (!name) return false;
    const bool in_air = name->gain_db == kOutOfWaterDb, outside = name->gain_db < 0 || name->gain_db > kMostGainDb;
    report.out_of_water += in_air;
    report.bad_gain += outside;
    if (in_air) log_left_out(options, one, "a gain of 1 dB, the hydrophone was not in water");
    if (outside) log_left_out(options, one, "a gain outside 0 to 200 dB");
    return in_air || outside;
  });
}

/// Why nothing of these files can be used: they are not there, or no audio is in them.
Error no_audio_in(const std::vector<BuiltFile>& files) {
  const auto is_missing = [](const BuiltFile& one) { return !is_there(one.file.path); };
  const auto missing = std::ranges::count_if(files, is_missing);
  const auto count = std::to_string(files.size());
  const auto all = missing == std::ssize(files);
  if (missing > 0)
    return {Fault::missing,
            (all ? "not one of the " + count + " files is there"
                 : std::to_string(missing) + " of the " + count + " files are not there, and no other is audio") +
                "; the first: " + std::ranges::find_if(files, is_missing)->file.path.string(),
            "Paths of a list begin at its folder, or at " + field("root")};
  return {Fault::usage,
          "not one of the " + count + " files can be read as audio; the first: " + files.front().file.path.string()};
}

/// The rate that most files have, and a length that nearly all of them fit in.
Result<HeaderFacts> usual_facts(const std::vector<BuiltFile>& files, int threads, double most = kLongestClip) {
  std::vector<HeaderFacts> facts(files.size());
  TRY(in_parallel(std::ssize(files), threads, [&](std::int64_t i) -> Result<void> {
    const auto index = static_cast<std::size_t>(i);
    facts[index] = header_facts(files[index].file.path).value_or(HeaderFacts{});  // reading it gives the reason
    return {};
  }));
  std::erase_if(facts, [](const HeaderFacts& one) { return one.length <= Seconds(0); });
  if (facts.empty()) return tl::unexpected<Error>(no_audio_in(files));
  std::map<Hertz, std::int64_t> rates;
  for (const auto& one : facts) ++rates[one.rate];
  const auto usual = std::ranges::max_element(rates, {}, [](const auto& it) { return it.second; });
  std::ranges::sort(facts, {}, &HeaderFacts::length);
  const auto at = static_cast<std::size_t>(kLengthShare * static_cast<double>(facts.size() - 1));
  return HeaderFacts{usual->first, std::min(facts[at].length, Seconds(most))};
}

Result<AudioGeometry> choose_geometry(const SetBuildOptions& options, const std::vector<BuiltFile>& files,
                                      bool are_sensors) {
  const auto& preset = options.preset;
  const bool is_leak = preset == "leak" || (preset.empty() && are_sensors);
  if (options.linear && (is_leak || preset == "leak-overlap"))
    return fail(Fault::usage, "linear bands: files called SENSOR~RECORDING~TIME~GAIN have mels, as field note 003",
                "Take " + field("preset") + " clip, or mels");
  if (is_leak) return leak_geometry();
  if (preset == "leak-overlap") return overlapping_leak_geometry();
  if (!preset.empty() && preset != "clip")
    return fail(Fault::usage, field("preset") + ": expected clip, leak or leak-overlap, found '" + preset + "'");
  HeaderFacts facts{options.rate.value_or(Hertz{}), options.seconds.value_or(Seconds(0))};
  if (!options.rate || !options.seconds) {
    const auto usual = TRY(usual_facts(files, options.threads));
    facts = {options.rate.value_or(usual.rate), options.seconds.value_or(usual.length)};
  }
  auto geometry = clip_geometry(facts.rate, facts.length, options.n_mels.value_or(0));
  geometry.mel.linear = options.linear;
  TRY(check(geometry));
  return geometry;
}

/// Clips of a file at most. Where nothing is requested, one where nearly all files are as long as a clip: what is
/// longer then is a word with a pause.
Result<std::int64_t> most_clips(const SetBuildOptions& options, const std::vector<BuiltFile>& files,
                                const AudioGeometry& geometry) {
  if (options.clips_per_file > 0) return options.clips_per_file;
  const auto usual = TRY(usual_facts(files, options.threads, /*most=*/std::numeric_limits<double>::infinity()));
  return 2 * usual.length >= 3 * geometry.seconds() ? kMostClips : 1;
}

std::string name_of_clip(const BuiltFile& one, const SpooledClip& clip, Hertz rate) {
  return clip.count > 1 ? clip_name(one.file.name, length_of(clip.start, rate)) : one.file.name;
}

/// Computes files' features into the spool (none: nowhere). Thread-safe.
class FileComputer {
 public:
  FileComputer(const AudioGeometry& geometry, FeatureSpool* spool, bool waveforms, std::int64_t most_clips)
      : maker_(geometry), spool_(spool), waveforms_(waveforms), most_clips_(most_clips) {}

  /// What is wrong with the file itself stays in its `problem`.
  Result<void> compute(BuiltFile& one) {
    if (take_spooled(one)) {
      ++resumed_;
      return {};
    }
    thread_local MonoResampler resampler;
    auto read = read_labelled_audio(one.file.path, children_);
    const auto& geometry = maker_.geometry();
    auto audio = read ? resampler.convert(std::move(read->audio), geometry.mel.rate)
                      : Result<MonoAudio>(tl::unexpected<Error>(read.error()));
    if (!audio) {
      if (!is_fault_of_file(audio.error())) return fail_in(one.file.path.string(), audio.error());
      one.problem = audio.error().what;
      return {};
    }
    const std::span<const float> samples(audio->samples);
    const auto count = std::min(most_clips_, clips_in(std::ssize(samples), geometry.clip_samples));
    const auto starts = starts_of_clips(samples, geometry.clip_samples, geometry.mel.rate, count);
    for (const auto start : starts)
      one.clips.push_back({.content = read->content, .start = start, .count = std::ssize(starts)});
    for (std::size_t i = 0; i < starts.size(); ++i)
      TRY(compute_clip(one, samples.subspan(static_cast<std::size_t>(starts[i])), one.clips[i], i));
    return {};
  }
  std::int64_t resumed() const { return resumed_; }

 private:
  /// Of a clip by its index among those of its file. The number of clips that files may have belongs to it.
  Result<CacheKey> identity_of(const BuiltFile& one, std::size_t clip) const {
    auto name = one.file.name;
    if (one.surrogate_key != 0) name += " by " + std::to_string(one.surrogate_key);
    if (most_clips_ > 1) name += " clip " + std::to_string(clip) + " of " + std::to_string(most_clips_);
    return FeatureSpool::identity_of(name, one.file.path);
  }
  /// Whether an earlier build has computed all clips of the file: it has them then.
  bool take_spooled(BuiltFile& one) const {
    for (std::size_t clip = 0; spool_ && (clip == 0 || std::cmp_less(clip, one.clips.front().count)); ++clip) {
      const auto identity = identity_of(one, clip);
      const auto kept = identity ? spool_->find(*identity) : std::nullopt;
      if (!kept) break;
      one.clips.push_back(*kept);
    }
    if (!one.clips.empty() && std::ssize(one.clips) == one.clips.front().count) return true;
    one.clips.clear();
    return false;
  }
  /// The features of a file's clip, which begins with these samples.
  Result<void> compute_clip(const BuiltFile& file, std::span<const float> samples, SpooledClip& clip,
                            std::size_t number) {
    std::vector<float> surrogate;
    if (file.surrogate_key != 0) {
      const auto length = std::min(std::ssize(samples), maker_.geometry().clip_samples);
      const auto key = number == 0 ? file.surrogate_key : mixed({file.surrogate_key, number});
      surrogate = iaaft_surrogate(samples.first(static_cast<std::size_t>(length)), key);
      samples = surrogate;
    }
    const auto features = maker_.compute(samples);
    const auto name = name_of_clip(file, clip, maker_.geometry().mel.rate);
    const bool is_alone = clip.count == 1, is_moved = is_alone && clip.start > 0;
    clip.checksum = row_checksum(name, features.mel);
    clip.waveform_checksum = waveforms_ ? row_checksum(name, features.waveform) : 0;
    clip.is_cut = is_alone && features.is_cut && !is_moved;
    clip.is_padded = features.is_padded && !is_moved;
    clip.is_moved = is_moved;
    if (!spool_) return {};
    const auto identity = TRY(identity_of(file, number));
    return spool_->append(identity, clip, features.mel, features.waveform);
  }

  ClipFeatureMaker maker_;
  ChildDecoder children_{};
  FeatureSpool* spool_;
  bool waveforms_;
  std::int64_t most_clips_;  // of a file
  std::atomic<std::int64_t> resumed_ = 0;
};

/// Computes the features of every file. Returns how many an earlier, interrupted build had computed.
Result<std::int64_t> compute(const SetBuildOptions& options, FileComputer& computer, std::vector<BuiltFile>& files,
                             const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  std::atomic<std::int64_t> done = 0;
  Pipeline pipeline;
  WatchedRun unwatched;
  WatchedRun& watched = options.watched ? *options.watched : unwatched;
  const std::size_t threads = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, options.threads)), 1,
                                                      std::max<std::size_t>(1, files.size()));
  // Neighbours together: clips can be so short that handing each on takes longer than making it.
  const std::size_t run = std::clamp<std::size_t>(files.size() / (8 * threads), 1, 64);
  auto runs = pipeline.source("files", [&, next = std::size_t{0}]() mutable -> std::optional<Result<std::size_t>> {
    if (next >= files.size()) return std::nullopt;
    return std::exchange(next, next + run);
  });
  const auto make = [&](std::size_t first) -> Result<void> {
    for (std::size_t i = first; i < std::min(first + run, files.size()); ++i) {
      BuiltFile& one = files[i];
      if (auto made = watched.measure(0, i, [&] { return computer.compute(one); }); !made) return made;
      if (!one.problem.empty()) log_left_out(options, one, one.problem);
      if (!progress(++done, std::ssize(files))) return fail(Fault::cancelled, "interrupted");
    }
    return {};
  };
  pipeline.sink("make", std::move(runs), make, {.threads = static_cast<int>(threads)});
  TRY(watched.run(pipeline));
  return computer.resumed();
}

/// The surrogates of all training files, as further ones of the training part. Validation and test get none of them:
/// what is validated and tested is what was recorded.
std::vector<BuiltFile> surrogates_of(const std::vector<BuiltFile>& files, int count, std::uint64_t seed) {
  std::vector<BuiltFile> all;
  for (const auto& one : files)
    for (int number = 1; number <= count && one.problem.empty() && one.file.part == SetPart::training; ++number) {
      auto name = one.file.name + "~iaaft" + std::to_string(number);
      const auto key = std::max<std::uint64_t>(1, mixed({seed, digest("surrogate"), digest(name)}));
      all.push_back({.file = one.file, .surrogate_key = key});
      all.back().file.name = std::move(name);
    }
  return all;
}

/// What so many files take of a set: their features, and their waveforms where they are requested.
Bytes features_size(const AudioGeometry& geometry, std::int64_t files) {
  return Bytes{files * geometry.values() * static_cast<std::int64_t>(sizeof(std::uint16_t))};
}

Bytes waveforms_size(const SetBuildOptions& options, const AudioGeometry& geometry, std::int64_t files) {
  return Bytes{options.waveforms ? files * geometry.waveform_values() * static_cast<std::int64_t>(sizeof(float)) : 0};
}

/// The spool of a build into `out`, with disk space for it and for the set that is made of it.
Result<std::unique_ptr<FeatureSpool>> open_spool(const SetBuildOptions& options, const AudioGeometry& geometry,
                                                 std::int64_t files) {
  TRY(make_folders(options.out));
  const auto size = features_size(geometry, files).value + waveforms_size(options, geometry, files).value;
  TRY(expect_space(options.out, Bytes{2 * size}, "the set and its features while it is built",
                   "Free some space, or name a folder elsewhere with " + field("out")));
  return FeatureSpool::open(options.out / kSpoolName, geometry, options.waveforms);
}

/// Files of the same content are one group; where their labels differ, none of them can be trusted.
void join_equal_contents(const SetBuildOptions& options, std::vector<BuiltFile>& files) {
  std::map<CacheKey, std::vector<BuiltFile*>> by_content;
  for (auto& one : files)
    if (one.problem.empty()) by_content[one.clips.front().content].push_back(&one);
  std::map<std::string, std::string> same;  // group to the group it belongs to
  const auto root = [&](std::string group) {
    while (same.contains(group)) group = same.at(group);
    return group;
  };
  for (const auto& by : by_content) {
    const auto& equal = by.second;
    const auto other =
        std::ranges::find_if(equal, [&](const BuiltFile* one) { return one->file.label != equal.front()->file.label; });
    for (auto* one : other == equal.end() ? std::vector<BuiltFile*>() : equal) {
      one->problem = "has the content of " + (one == *other ? equal.front() : *other)->file.name +
                     ", and another label: one of the two is wrong";
      log_left_out(options, *one, one->problem);
    }
    for (const auto* one : equal)
      if (const auto from = root(one->file.group), to = root(equal.front()->file.group); from != to) same[from] = to;
  }
  for (auto& one : files) one.file.group = root(one.file.group);
}

/// Fault::usage where one group, or one content, is in two parts of a data folder that came with parts.
Result<void> expect_separate_parts(const std::vector<BuiltFile>& files) {
  std::map<std::string, const BuiltFile*> first;
  for (const auto& one : files) {
    if (!one.problem.empty() || one.file.part == SetPart::none) continue;
    const auto [at, is_new] = first.emplace(one.file.group, &one);
    if (is_new || at->second->file.part == one.file.part) continue;
    const bool equal = at->second->clips.front().content == one.clips.front().content;
    return fail(Fault::usage,
                at->second->file.name + " and " + one.file.name +
                    (equal ? " have the same content" : " belong to the group '" + one.file.group + "'") +
                    ", and are in two parts: what is learned would be tested with itself",
                "Remove one of them, or put both into one part");
  }
  return {};
}

Result<void> write_parts(const SetBuildOptions& options, const SetBuildReport& report,
                         const std::vector<BuiltFile>& files, FeatureSpool& spool) {
  if (auto mapped = spool.finish(); !mapped) return mapped;
  const auto& labels = report.split.labels;
  for (const auto part : {SetPart::training, SetPart::validation, SetPart::testing}) {
    std::vector<LabelledRow> rows;
    std::vector<const SpooledClip*> sources;
    for (const auto& one : files) {
      if (!one.problem.empty() || one.file.part != part) continue;
      const auto label = std::ranges::lower_bound(labels, one.file.label) - labels.begin();
      for (const auto& clip : one.clips) {
        rows.push_back({.name = name_of_clip(one, clip, report.geometry.mel.rate),
                        .group = one.file.group,
                        .label = static_cast<std::int16_t>(label),
                        .checksum = clip.checksum,
                        .waveform_checksum = clip.waveform_checksum,
                        .recording = one.file.name});
        sources.push_back(&clip);
      }
    }
    const LabelledPart whole{.geometry = report.geometry,
                             .labels = labels,
                             .rows = rows,
                             .mel = [&](std::size_t row) { return spool.mel(*sources[row]); },
                             .waveform = [&](std::size_t row) { return spool.waveform(*sources[row]); }};
    TRY(write_labelled_part(set_file(options.out, part), whole));
    if (options.waveforms) TRY(write_waveform_part(waveform_file(options.out, part), whole));
  }
  BadSampleList bad;
  for (const auto& one : files)
    if (!one.problem.empty()) bad.add(one.file.name, one.problem);
  TRY(bad.write(options.out));
  return spool.remove();
}

void count(const SetBuildOptions& options, const std::vector<BuiltFile>& files, SetBuildReport& report) {
  for (const auto& one : files) {
    const bool used = one.problem.empty();
    report.used += used;
    report.bad += !used;
    if (!used) continue;
    report.clips += std::ssize(one.clips);
    report.cut += one.clips.front().is_cut;
    report.padded += one.clips.front().is_padded;
    report.moved += one.clips.front().is_moved;
  }
  report.size = features_size(report.geometry, report.clips);
  report.waveforms = waveforms_size(options, report.geometry, report.clips);
}

/// The error with what was left out before it: that may be why.
Error with_left_out(Error error, const std::vector<BuiltFile>& files) {
  const auto bad = std::ranges::count_if(files, [](const BuiltFile& one) { return !one.problem.empty(); });
  const auto first = std::ranges::find_if(files, [](const BuiltFile& one) { return !one.problem.empty(); });
  if (bad > 0)
    error.what += "; " + std::to_string(bad) + " of " + std::to_string(files.size()) +
                  " files were left out as unusable, the first: " + first->file.name + " (" + first->problem + ")";
  return error;
}

/// Whether a build wrote it: field note 003's builder and others know no checksums of rows.
bool is_built_set(const std::filesystem::path& path) {
  const auto file = Hdf5File::open(path);
  return file && file->has("row_checksums");
}

Result<void> expect_own(const std::filesystem::path& path, bool (*is_own)(const std::filesystem::path&)) {
  std::error_code error;
  if (!is_there(path) ||
      (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) == 0))
    return {};
  if (is_own(path)) return {};
  return fail(Fault::usage, path.string() + " is there already, and 'tutti prepare classifier' did not write it",
              "Name another folder with " + field("out") + ", or move the file away");
}

}  // namespace

Result<void> expect_own_set_files(const std::filesystem::path& out) {
  for (const auto part : {SetPart::training, SetPart::validation, SetPart::testing})
    for (const auto& file : {set_file(out, part), waveform_file(out, part)})
      if (auto own = expect_own(file, is_built_set); !own) return own;
  if (auto own = expect_own(out / kBadSampleList, BadSampleList::is_one); !own) return own;
  return expect_own(out / kSpoolName, FeatureSpool::is_spool);
}

Result<SetBuildReport> build_labelled_set(const SetBuildOptions& options,
                                          const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  TRY(options.dry_run ? Result<void>() : expect_own_set_files(options.out));
  auto found = TRY(find_labelled_files(options.data, options.root));
  SetBuildReport report{.found = std::ssize(found.files),
                        .others = found.others,
                        .other_endings = found.other_endings,
                        .unread = found.unread};
  report.merged_labels = merge_like_labels(found.files);
  std::vector<BuiltFile> files;
  for (auto& file : found.files) files.push_back({.file = std::move(file)});
  const bool are_sensors = are_sensor_names(files, options.delimiter);
  leave_out_by_gain(options, files, report);
  report.has_groups = TRY(find_groups(options, files, are_sensors));
  const auto geometry = TRY(choose_geometry(options, files, are_sensors));
  report.geometry = geometry;
  std::unique_ptr<FeatureSpool> spool;
  if (!options.dry_run) spool = TRY(open_spool(options, geometry, std::ssize(files) * (1 + options.surrogates)));
  const auto clips = TRY(most_clips(options, files, geometry));
  FileComputer computer(geometry, spool.get(), options.waveforms, clips);
  report.resumed = TRY(compute(options, computer, files, progress));
  join_equal_contents(options, files);
  count(options, files, report);
  TRY(expect_separate_parts(files));
  std::vector<LabelledFile> used;
  for (const auto& one : files)
    if (one.problem.empty()) used.push_back(one.file);
  auto split = split_files(used, options.shares, options.seed);
  if (!split) return tl::unexpected<Error>(with_left_out(split.error(), files));
  report.split = std::move(*split);
  std::size_t next = 0;
  for (auto& one : files)
    if (one.problem.empty()) one.file = used[next++];
  auto surrogates = surrogates_of(files, options.surrogates, options.seed);
  for (const auto& one : files)
    if (one.problem.empty() && one.file.part == SetPart::training)
      report.surrogates += options.surrogates * std::ssize(one.clips);
  report.size.value += features_size(geometry, report.surrogates).value;
  report.waveforms.value += waveforms_size(options, geometry, report.surrogates).value;
  if (options.dry_run) return report;
  auto of_surrogates = options;
  of_surrogates.watched = nullptr;  // the files were measured
  TRY(compute(of_surrogates, computer, surrogates, progress));
  std::ranges::move(surrogates, std::back_inserter(files));
  TRY(write_parts(options, report, files, *spool));
  return report;
}

}  // namespace tutti
