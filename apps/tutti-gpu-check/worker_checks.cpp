#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <thread>

#include "base/build_id.h"
#include "base/guarded.h"
#include "base/log.h"
#include "checks.h"
#include "model/device_name.h"
#include "transcribe/pool/one_device.h"
#include "transcribe/pool/pooled_recording.h"
#include "worker/cuda_driver.h"

namespace tutti {
namespace {

constexpr WhisperDims kDims{.n_audio_ctx = 100,
                            .n_audio_state = 64,
                            .n_audio_head = 1,
                            .n_audio_layer = 2,
                            .n_vocab = 51864,
                            .n_text_state = 64,
                            .n_text_head = 1,
                            .n_text_layer = 2};
constexpr std::int32_t kSot = 50257;
constexpr int kWindows = 6;
constexpr const char* kCramped = "random, cramped";

/// A network on a device that pretends to have memory for two sequences only.
class CrampedNetwork : public Network {
 public:
  explicit CrampedNetwork(std::unique_ptr<Network> real) : real_(std::move(real)) {}
  const WhisperDims& dims() const override { return real_->dims(); }
  CrossKv encode(const at::Tensor& mel) override { return real_->encode(mel); }
  std::unique_ptr<Stepper> make_stepper(std::int32_t slots, std::int32_t beams) override {
    if (slots > 2) throw c10::OutOfMemoryError({}, "out of memory on purpose");
    return real_->make_stepper(slots, beams);
  }
  void release_memory() override { real_->release_memory(); }
  Result<TokenTimes> align(const CrossKv& window, const AlignmentText& text, const DecodingTokens& tokens) override {
    return real_->align(window, text, tokens);
  }

 private:
  std::unique_ptr<Network> real_;
};

std::vector<float> mel_of(int window) {
  const auto mel = at::sin(at::arange(kDims.n_mels * 200, at::kFloat) * (0.001 * window));
  return {mel.data_ptr<float>(), mel.data_ptr<float>() + mel.numel()};
}

using Texts = std::vector<std::vector<std::int32_t>>;

/// All windows at once; an empty text where one was lost.
Texts decode_windows(WindowEngine& worker) {
  Texts texts(kWindows);
  std::vector<std::jthread> callers;
  for (int i = 0; i < kWindows; ++i) {
    callers.emplace_back([&worker, &texts, i] {
      const auto id = static_cast<WindowId>(i) + 1;
      if (!worker.open({.window = id, .n_mels = kDims.n_mels, .frames = 200}, mel_of(i + 1))) return;
      const auto decoded = worker.decode({.window = id, .request = id, .prompt = {kSot}, .max_tokens = 40});
      if (decoded) texts[static_cast<std::size_t>(i)] = decoded->tokens;
      worker.release(id);  // its slot is the next window's
    });
  }
  callers.clear();
  return texts;
}

struct Run {
  Texts texts{};
  std::int64_t restarts = 0;
  int back_offs = 0;
  std::vector<std::string> logged{};  // by the worker, and of it
};

Run run(at::Device device, const std::string& model, const std::vector<std::string>& fault) {
  Guarded<std::vector<std::string>> logged;
  const auto before =
      set_log_sink([&](Level, std::string_view line) { logged.with([&](auto& lines) { lines.emplace_back(line); }); });
  WorkerOptions options{
      .command = {.words = {"/proc/self/exe", "worker", "--fd", "3"}},
      .device_uuid = device.is_cuda() ? visible_cuda_device(device.index()).value_or(CudaDevice{}).uuid : "",
      .build_id = std::string(build_id()),
      .model = {.model_path = model, .device = device.str(), .compute_type = "float32"}};
  options.command.words.insert(options.command.words.end(), fault.begin(), fault.end());
  Run result;
  {
    const auto pool = DevicePool::start(plan_of_one({.id = device.str(), .worker = std::move(options)}));
    if (const auto ready = pool->ready(); !ready) log(Level::error, ready.error().text());
    PooledRecording recording(*pool, {.id = 1});
    result.texts = decode_windows(recording.engine());
    result.restarts = pool->view().devices.front().restarts;
  }
  set_log_sink(before);
  result.logged = logged.with([](auto& lines) { return std::move(lines); });
  result.back_offs = static_cast<int>(std::ranges::count_if(result.logged, [](const std::string& line) {
    return line.find("sequences at a time instead of") != std::string::npos;
  }));
  return result;
}

double equal_windows(const Texts& found, const Texts& wanted) {
  int equal = 0;
  for (std::size_t i = 0; i < std::min(found.size(), wanted.size()); ++i) {
    equal += !wanted[i].empty() && found[i] == wanted[i] ? 1 : 0;
  }
  return equal;
}

}  // namespace

Result<LoadedModel> load_check_model(const LoadModel& request) {
  const auto device = device_named(request.device);  // first: it brings torch's CUDA half
  if (!device) return tl::unexpected<Error>(device.error());
  at::manual_seed(20251121);
  auto network = make_network(WhisperModel::random(kDims, *device, at::kFloat));
  if (request.model_path == kCramped) network = std::make_unique<CrampedNetwork>(std::move(network));
  LoadedModel model;
  model.network = std::move(network);
  model.tokens = {.eot = 50256, .timestamp_begin = 50363, .no_timestamps = 50362, .no_speech = 50361, .blank = {220}};
  model.sot = kSot;
  model.slots = 8;
  model.device_name = request.device;
  model.compute_type = request.compute_type;
  return model;
}

void check_worker(Report& report, at::Device device, const CheckOptions&) {
  const auto plain = run(device, "random", {});
  const auto check = [&](const std::string& what, const Run& tried, bool happened) {
    const double equal = equal_windows(tried.texts, plain.texts);
    const bool passed = happened && equal == kWindows;
    for (const auto& line : tried.logged)
      if (!passed) report.note(what + ": " + line);
    report.add({.check = "worker", .what = what, .value = equal, .unit = "of 6 windows equal", .passed = passed});
  };
  check("decodes together", plain, true);
  const auto crashed = run(device, "random", {"--fault", "crash-after=3"});
  check("crashes and is started again", crashed, crashed.restarts == 1);
  const auto cramped = run(device, kCramped, {});
  check("backs off when memory is short", cramped, cramped.back_offs == 2);
}

}  // namespace tutti
