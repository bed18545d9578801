#include "train/classifier/classify.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/try.h"
#include "device/machine.h"
#include "feed/labelled/audio_reading.h"
#include "feed/labelled/long_audio.h"
#include "feed/packed/in_parallel.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "train/classifier/file_scores.h"
#include "train/classifier/model.h"

namespace tutti {
namespace {

constexpr std::size_t kFilesAtOnce = 64;
constexpr Seconds kLong{300};    // files from here on are read stretch by stretch
constexpr Seconds kStretch{60};  // at least a clip

/// What files are read and answered with.
struct Classifying {
  const ClassifierModel& model;
  ClipFeatureMaker maker;
  ChildDecoder children{};
  int threads = 1;
};

/// A file's features, clip after clip.
struct FileFeatures {
  std::string problem{};
  std::vector<std::uint16_t> mel{};
  std::int64_t clips = 0;
  std::int64_t samples = 0;
  bool is_padded = false;
  at::Tensor probabilities{};  // probabilities of a long file: its features are not kept

  bool is_long() const { return probabilities.defined(); }
};

FileFeatures features_of(const std::string& path, const Classifying& with) {
  thread_local MonoResampler resampler;
  const auto& geometry = with.maker.geometry();
  auto read = read_labelled_audio(path, with.children);
  if (!read) return {.problem = read.error().what};
  const auto audio = resampler.convert(std::move(read->audio), geometry.mel.rate);
  if (!audio) return {.problem = audio.error().what};
  const std::span samples(audio->samples);
  FileFeatures features{.clips = clips_in(std::ssize(samples), geometry.clip_samples), .samples = std::ssize(samples)};
  for (std::int64_t clip = 0; clip < features.clips; ++clip) {
    const auto first = static_cast<std::size_t>(clip * geometry.clip_samples);
    const auto count = std::min(samples.size() - first, static_cast<std::size_t>(geometry.clip_samples));
    const auto made = with.maker.compute(samples.subspan(first, count));
    features.mel.insert(features.mel.end(), made.mel.begin(), made.mel.end());
  }
  const auto segment = geometry.segments() > 1 ? geometry.short_samples : geometry.mel.n_fft;
  features.is_padded = std::ssize(samples) < segment;
  return features;
}

/// Features of so many clips, as rows that the network takes once they are normalised.
at::Tensor rows_of(const ClassifierModel& model, const std::vector<std::uint16_t>& mel, std::int64_t clips) {
  auto rows = at::empty({clips * model.geometry.segments(), model.shape.n_mels, model.shape.frames},
                        at::TensorOptions(at::kHalf));
  std::memcpy(rows.mutable_data_ptr(), mel.data(), rows.nbytes());
  return rows;
}

/// The features of `clips` clips of samples, clip after clip.
Result<std::vector<std::uint16_t>> mel_of(const Classifying& with, std::span<const float> samples, std::int64_t clips) {
  const auto& geometry = with.maker.geometry();
  const auto values = static_cast<std::size_t>(geometry.values());
  std::vector<std::uint16_t> mel(static_cast<std::size_t>(clips) * values);
  TRY(in_parallel(clips, with.threads, [&](std::int64_t clip) -> Result<void> {
    const auto first = static_cast<std::size_t>(clip * geometry.clip_samples);
    const auto count = std::min(samples.size() - first, static_cast<std::size_t>(geometry.clip_samples));
    std::ranges::copy(with.maker.compute(samples.subspan(first, count)).mel,
                      mel.begin() + clip * static_cast<std::ptrdiff_t>(values));
    return {};
  }));
  return mel;
}

/// A long file, answered while it is read: of each stretch only the probabilities are kept.
Result<FileFeatures> answered_in_stretches(LongAudio& audio, const Classifying& with) {
  const auto& geometry = with.maker.geometry();
  FileFeatures file{.clips = clips_in(audio.samples(), geometry.clip_samples), .samples = audio.samples()};
  const auto at_once = std::max<std::int64_t>(1, samples_in(kStretch, geometry.mel.rate) / geometry.clip_samples);
  std::vector<at::Tensor> answers;
  for (std::int64_t first = 0; first < file.clips; first += at_once) {
    const auto clips = std::min(at_once, file.clips - first);
    const auto samples = TRY(audio.read(first * geometry.clip_samples, clips * geometry.clip_samples));
    const auto mel = TRY(mel_of(with, samples, clips));
    const auto rows = rows_of(with.model, mel, clips);
    answers.push_back(with.model.probabilities(with.model.normalised(rows)).to(at::kCPU));
  }
  if (audio.is_silent()) return silent_error();
  file.probabilities = at::cat(answers);
  return file;
}

/// The answer to a long file, or what is wrong with it; none for one that is not long.
std::optional<FileFeatures> answered_if_long(const std::string& path, const Classifying& with) {
  const auto rate = with.maker.geometry().mel.rate;
  const auto answered = [&](LongAudio& audio) { return answered_in_stretches(audio, with); };
  Result<FileFeatures> answer = fail(Fault::unsupported, path);
  if (auto audio = LongAudio::open(path, rate, kLong)) answer = answered(*audio);
  if (!answer && answer.error().fault == Fault::unsupported) {  // libsndfile reads none of it, or would lose some
    auto audio = LongAudio::decoded(path, with.children, rate, kLong);
    if (audio && !*audio) return std::nullopt;
    answer = audio ? answered(**audio) : tl::unexpected<Error>(audio.error());
  }
  return answer ? std::move(*answer) : FileFeatures{.problem = answer.error().what};
}

/// Probabilities of every segment of the files that have features, one tensor a file, in order and in host memory.
std::vector<at::Tensor> probabilities_of(const ClassifierModel& model, const std::vector<FileFeatures>& files) {
  std::vector<at::Tensor> features;
  std::vector<std::int64_t> rows;
  for (const auto& file : files) {
    if (!file.problem.empty() || file.is_long()) continue;
    rows.push_back(file.clips * model.geometry.segments());
    features.push_back(rows_of(model, file.mel, file.clips));
  }
  if (features.empty()) return {};
  return at::split_with_sizes(model.probabilities(model.normalised(at::cat(features))).to(at::kCPU), rows);
}

/// The vote of clips, by the probabilities of all their segments.
AudioAnswer audio_answer(const ClassifierModel& model, const at::Tensor& probabilities) {
  std::vector<FileAnswer> clips;
  for (const auto& clip : probabilities.split(model.geometry.segments())) clips.push_back(model.answer_of(clip));
  auto answer = vote_of(clips);
  const auto best = static_cast<std::size_t>(label_of(model.rule(), answer));
  return {.probabilities = std::move(answer.probabilities), .best = best};
}

std::vector<ClipAnswer> clip_answers(const ClassifierModel& model, const FileFeatures& file,
                                     const at::Tensor& probabilities) {
  const auto& geometry = model.geometry;
  std::vector<ClipAnswer> clips;
  for (std::int64_t clip = 0; clip < file.clips; ++clip) {
    const auto first = clip * geometry.clip_samples;
    const auto end = std::min(first + geometry.clip_samples, file.samples);
    const auto rows = probabilities.narrow(0, clip * geometry.segments(), geometry.segments());
    clips.push_back(
        {audio_answer(model, rows), length_of(first, geometry.mel.rate), length_of(end, geometry.mel.rate)});
  }
  return clips;
}

/// Reads some files: short ones side by side, long ones after another.
Result<std::vector<FileFeatures>> read_files(std::span<const std::string> files, const Classifying& with) {
  std::vector<FileFeatures> features(files.size());
  std::vector<char> is_done(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto answered = answered_if_long(files[i], with);
    is_done[i] = answered.has_value();
    if (answered) features[i] = std::move(*answered);
  }
  TRY(in_parallel(std::ssize(files), with.threads, [&](std::int64_t i) -> Result<void> {
    const auto index = static_cast<std::size_t>(i);
    if (!is_done[index]) features[index] = features_of(files[index], with);
    return {};
  }));
  return features;
}

/// Answers so many files at once. Returns how many had an error.
Result<std::int64_t> answer_files(std::span<const std::string> names, const ClassifyRequest& request,
                                  const Classifying& with, const TakeAnswer& take, SerialRun& timed) {
  std::vector<std::string> paths(names.begin(), names.end());
  if (!request.standard_input.empty()) std::ranges::replace(paths, std::string("-"), request.standard_input);
  const auto features = TRY(timed.measure("reading of files", [&] { return read_files(paths, with); }));
  const auto probabilities = timed.measure("the network", [&] { return probabilities_of(with.model, features); });
  auto next = probabilities.begin();
  std::int64_t failed = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& file = features[i];
    ClassifiedFile answer;
    answer.file = names[i];
    answer.error = file.problem;
    if (paths[i] != answer.file && answer.error.starts_with(paths[i]))
      answer.error = "standard input" + answer.error.substr(paths[i].size());  // not where it is kept meanwhile
    if (answer.error.empty()) {
      const auto& segments = file.is_long() ? file.probabilities : *next++;
      static_cast<AudioAnswer&>(answer) = audio_answer(with.model, segments);
      answer.is_padded = file.is_padded;
      if (request.over_time) answer.clips = clip_answers(with.model, file, segments);
    }
    failed += !answer.error.empty();
    take(with.model.labels, answer);
  }
  return failed;
}

}  // namespace

Result<std::int64_t> classify_files(const ClassifyRequest& request, const TakeAnswer& take, SerialRun* phases) {
  SerialRun unseen;
  SerialRun& timed = phases ? *phases : unseen;
  const c10::AutoGradMode no_gradients(false);
  set_compute_threads(request.threads, read_cpu().cores);
  const auto device = TRY(device_named(request.device));
  const auto model = TRY(ClassifierModel::load(request.model, device));
  const Classifying with{.model = model,
                         .maker = ClipFeatureMaker(model.geometry),
                         .threads = request.threads > 0 ? request.threads : read_cpu().cores};
  std::int64_t failed = 0;
  const auto answer_all = [&](std::span<const std::string> names) -> Result<void> {
    for (std::size_t first = 0; first < names.size(); first += kFilesAtOnce) {
      const auto some = names.subspan(first, std::min(kFilesAtOnce, names.size() - first));
      const auto wrong = TRY(answer_files(some, request, with, take, timed));
      failed += wrong;
    }
    return {};
  };
  TRY(answer_all(request.files));
  while (request.more) {
    const auto names = TRY(timed.measure("the list of names", request.more));
    if (names.empty()) break;
    TRY(answer_all(names));
  }
  return failed;
}

}  // namespace tutti
