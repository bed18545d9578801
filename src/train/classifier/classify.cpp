#include "train/classifier/classify.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"
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
  FileFeatures features{.clips = clips_in(std::ssize(samples), geometry.clip_samples)};
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

/// The answers to every file that has features, in order.
std::vector<FileAnswer> answers_of(const ClassifierModel& model, const std::vector<FileFeatures>& files) {
  const auto segments = model.geometry.segments();
  std::vector<at::Tensor> features;
  for (const auto& file : files) {
    if (!file.problem.empty()) continue;
    auto mel = at::empty({file.clips * segments, model.shape.n_mels, model.shape.frames}, at::TensorOptions(at::kHalf));
    std::memcpy(mel.mutable_data_ptr(), file.mel.data(), mel.nbytes());
    features.push_back(mel);
  }
  std::vector<FileAnswer> answers;
  if (features.empty()) return answers;
  const auto all = model.probabilities(model.normalised(at::cat(features))).to(at::kCPU);
  std::int64_t first = 0;
  for (const auto& mel : features) {
    answers.push_back(model.answer_of(all.narrow(0, first, mel.size(0))));
    first += mel.size(0);
  }
  return answers;
}

ClassifiedFile classified(const ClassifierModel& model, const std::string& file, const FileFeatures& features,
                          const FileAnswer& answer) {
  ClassifiedFile result{.file = file, .is_padded = features.is_padded, .clips = features.clips};
  for (std::size_t label = 0; label < model.labels.size(); ++label)
    result.scores.push_back({model.labels[label], answer.probabilities[label]});
  result.best = static_cast<std::size_t>(label_of(model.rule(), answer));
  return result;
}

}  // namespace

Result<std::int64_t> classify_files(const ClassifyRequest& request,
                                    const std::function<void(const ClassifiedFile&)>& take) {
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
    const auto answers = answers_of(*model, features);
    auto next = answers.begin();
    for (std::size_t i = 0; i < count; ++i) {
      const auto& file = request.files[first + i];
      const bool is_bad = !features[i].problem.empty();
      failed += is_bad;
      take(is_bad ? ClassifiedFile{.file = file, .error = features[i].problem}
                  : classified(*model, file, features[i], *next++));
    }
  }
  return failed;
}

std::string answer_json(const ClassifiedFile& answer) {
  nlohmann::ordered_json json{{"file", answer.file}};
  if (!answer.error.empty()) {
    json["error"] = answer.error;
    return json_line(json);
  }
  json["label"] = answer.scores[answer.best].label;
  json["score"] = answer.scores[answer.best].probability;
  json["scores"] = nlohmann::ordered_json::object();
  for (const auto& score : answer.scores) json["scores"][score.label] = score.probability;
  if (answer.is_padded) json["padded"] = true;
  return json_line(json);
}

std::string answer_text(const ClassifiedFile& answer) {
  if (!answer.error.empty()) return answer.file + ": " + answer.error;
  const auto& best = answer.scores[answer.best];
  return answer.file + ": " + best.label + " " + fixed_text(100 * best.probability, 1) + " %" +
         (answer.is_padded ? " (shorter than one segment, filled up with zeros)" : "");
}

}  // namespace tutti
