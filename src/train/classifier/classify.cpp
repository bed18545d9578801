#include "train/classifier/classify.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "device/machine.h"
#include "feed/labelled/sound_reading.h"
#include "feed/packed/in_parallel.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "train/classifier/file_scores.h"
#include "train/classifier/model.h"

namespace tutti {
namespace {

constexpr std::size_t kFilesAtOnce = 64;

/// A file's features, clip after clip.
struct FileFeatures {
  std::string problem{};
  std::vector<std::uint16_t> mel{};
  std::int64_t clips = 0;
  std::int64_t samples = 0;
  bool is_padded = false;
};

/// Clips that a file of so many samples is answered by.
std::int64_t clips_in(std::int64_t samples, std::int64_t clip) {
  return std::max<std::int64_t>(1, (samples + clip / 2) / clip);
}

FileFeatures features_of(const std::string& path, const ClipFeatureMaker& maker, const ChildDecoder& children) {
  thread_local MonoResampler resampler;
  const auto& geometry = maker.geometry();
  auto read = read_labelled_sound(path, children);
  if (!read) return {.problem = read.error().what};
  const auto sound = resampler.convert(std::move(read->sound), geometry.mel.rate);
  if (!sound) return {.problem = sound.error().what};
  const std::span samples(sound->samples);
  FileFeatures features{.clips = clips_in(std::ssize(samples), geometry.clip_samples), .samples = std::ssize(samples)};
  for (std::int64_t clip = 0; clip < features.clips; ++clip) {
    const auto first = static_cast<std::size_t>(clip * geometry.clip_samples);
    const auto count = std::min(samples.size() - first, static_cast<std::size_t>(geometry.clip_samples));
    const auto made = maker.compute(samples.subspan(first, count));
    features.mel.insert(features.mel.end(), made.mel.begin(), made.mel.end());
  }
  const auto segment = geometry.segments() > 1 ? geometry.short_samples : geometry.mel.n_fft;
  features.is_padded = std::ssize(samples) < segment;
  return features;
}

/// Probabilities of every segment of the files that have features, one tensor a file, in order and in host memory.
std::vector<at::Tensor> probabilities_of(const ClassifierModel& model, const std::vector<FileFeatures>& files) {
  const auto segments = model.geometry.segments();
  std::vector<at::Tensor> features;
  std::vector<std::int64_t> rows;
  for (const auto& file : files) {
    if (!file.problem.empty()) continue;
    rows.push_back(file.clips * segments);
    auto mel = at::empty({rows.back(), model.shape.n_mels, model.shape.frames}, at::TensorOptions(at::kHalf));
    std::memcpy(mel.mutable_data_ptr(), file.mel.data(), mel.nbytes());
    features.push_back(mel);
  }
  if (features.empty()) return {};
  return at::split_with_sizes(model.probabilities(model.normalised(at::cat(features))).to(at::kCPU), rows);
}

SoundAnswer sound_answer(const ClassifierModel& model, const at::Tensor& probabilities) {
  auto answer = model.answer_of(probabilities);
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
        {sound_answer(model, rows), length_of(first, geometry.mel.rate), length_of(end, geometry.mel.rate)});
  }
  return clips;
}

}  // namespace

Result<std::int64_t> classify_files(const ClassifyRequest& request, const TakeAnswer& take) {
  const c10::AutoGradMode no_gradients(false);
  set_compute_threads(request.threads, read_cpu().cores);
  const auto device = device_named(request.device);
  if (!device) return tl::unexpected<Error>(device.error());
  const auto model = ClassifierModel::load(request.model, *device);
  if (!model) return tl::unexpected<Error>(model.error());
  const ClipFeatureMaker maker(model->geometry);
  const ChildDecoder children;
  const int threads = request.threads > 0 ? request.threads : read_cpu().cores;
  std::int64_t failed = 0;
  for (std::size_t first = 0; first < request.files.size(); first += kFilesAtOnce) {
    const auto count = std::min(kFilesAtOnce, request.files.size() - first);
    std::vector<FileFeatures> features(count);
    const auto read = in_parallel(static_cast<std::int64_t>(count), threads, [&](std::int64_t i) -> Result<void> {
      const auto index = static_cast<std::size_t>(i);
      features[index] = features_of(request.files[first + index], maker, children);
      return {};
    });
    if (!read) return tl::unexpected<Error>(read.error());
    const auto probabilities = probabilities_of(*model, features);
    auto next = probabilities.begin();
    for (std::size_t i = 0; i < count; ++i) {
      ClassifiedFile answer;
      answer.file = request.files[first + i];
      answer.error = features[i].problem;
      if (answer.error.empty()) {
        static_cast<SoundAnswer&>(answer) = sound_answer(*model, *next);
        answer.is_padded = features[i].is_padded;
        if (request.over_time) answer.clips = clip_answers(*model, features[i], *next);
        ++next;
      }
      failed += !answer.error.empty();
      take(model->labels, answer);
    }
  }
  return failed;
}

}  // namespace tutti
