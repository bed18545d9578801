#include "worker/window_answers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>
#include <utility>

#include "decode/alignment.h"

namespace tutti {

bool WindowAnswers::open(const OpenWindow& message, const Result<WindowMel>& mel) {
  const bool is_open = windows_.contains(message.window);
  if (is_open)
    fail(message, {Fault::usage, "window " + std::to_string(message.window) + " is open already"});
  else if (!mel)
    fail(message, mel.error());
  else
    windows_.try_emplace(message.window, Window{.width = mel->width});
  return mel && !is_open;
}

void WindowAnswers::close(WindowId id) {
  windows_.erase(id);
  slots_.forget(id);
}

void WindowAnswers::encoded(EncodedWindows windows) {
  const Seconds share = windows.spent / static_cast<double>(windows.ids.size());
  for (std::size_t i = 0; i < windows.ids.size(); ++i) {
    const auto id = windows.ids[i];
    if (!windows_.contains(id)) continue;
    if (windows.kvs) {
      answer_waiting(id, std::move((*windows.kvs)[i]), share);
    } else {
      fail_waiting(id, windows.kvs.error());
    }
  }
}

void WindowAnswers::answer_waiting(WindowId id, CrossKv kv, Seconds share) {
  auto& window = windows_.at(id);
  window.kv = std::make_shared<const CrossKv>(std::move(kv));
  if (!std::exchange(window.opened, true)) reply_(Opened{.window = id, .encode_seconds = share.count()});
  const auto answer_all = [&](auto& kind) {
    for (const auto& message : std::exchange(kind, {})) answer(message, window);
  };
  std::apply([&](auto&... kinds) { (answer_all(kinds), ...); }, window.waiting);
}

/// The window has no encoding, so that it is closed as well.
void WindowAnswers::fail_waiting(WindowId id, const Error& error) {
  const auto& [detections, decodings, alignments] = windows_.at(id).waiting;
  if (!windows_.at(id).opened || !detections.empty()) fail(DetectLanguage{.window = id}, error);
  for (const auto& message : decodings) fail(message, error);
  for (const auto& message : alignments) fail(message, error);
  windows_.erase(id);
}

bool WindowAnswers::step() {
  const auto finished = slots_.step();
  for (const auto& job : finished) {
    if (job.outcome) {
      reply_(answer_to(job));
    } else {
      reply_(failure_of(job.window_id, job.request, job.outcome.error()));
    }
  }
  return !finished.empty();
}

std::ptrdiff_t WindowAnswers::encoded_windows() const {
  return std::ranges::count_if(windows_, [](const auto& window) { return window.second.kv != nullptr; });
}

std::optional<std::string> WindowAnswers::close_idle() {
  bool any = false;
  for (auto& [_, window] : windows_) {
    if (window.kv.use_count() != 1) continue;
    window.kv.reset();
    any = true;
  }
  return any ? std::optional<std::string>("") : std::nullopt;
}

std::vector<WindowId> WindowAnswers::close_waiting() {
  std::vector<WindowId> closed;
  for (const auto& job : slots_.withdraw_waiting()) {
    auto& window = windows_.at(job.window_id);
    std::get<std::vector<DecodeWindow>>(window.waiting).push_back(message_of(job));
    window.kv.reset();
    if (std::ranges::find(closed, job.window_id) == closed.end()) closed.push_back(job.window_id);
  }
  return closed;
}

void WindowAnswers::answer(const DetectLanguage& message, const Window& window) {
  if (model_.languages.empty())
    return fail(message, {Fault::usage, "this model knows English only: there is no language to detect"});
  const auto logits = slots_.first_logits(window.kv);
  if (!logits) return fail(message, logits.error());
  const auto chances = logits->select(0, 0).index_select(0, at::tensor(model_.languages, at::kLong)).softmax(0);
  const auto* first = chances.data_ptr<float>();
  reply_(Language{
      .window = message.window, .tokens = model_.languages, .probabilities = {first, first + model_.languages.size()}});
}

void WindowAnswers::answer(const DecodeWindow& message, const Window& window) {
  const auto submitted = slots_.submit(request_of(message, window.kv));
  if (!submitted) fail(message, submitted.error());
}

void WindowAnswers::answer(const AlignWindow& message, const Window& window) {
  const AlignmentText text{.sot_sequence = message.sot_sequence, .text = message.text_tokens, .frames = message.frames};
  auto dims = model_.network->dims();
  dims.n_audio_ctx = window.width / 2;
  const auto valid = check(text, model_.tokens, dims);
  if (!valid) return fail(message, valid.error());
  const auto begun = clock_.now();
  auto alignment =
      backoff_.run("aligning words", [&, kv = window.kv] { return model_.network->align(*kv, text, model_.tokens); });
  if (!alignment) return fail(message, alignment.error());
  if (!*alignment) return fail(message, alignment->error());
  reply_(Aligned{.window = message.window,
                 .request = message.request,
                 .starts = std::move((*alignment)->starts),
                 .probabilities = std::move((*alignment)->probabilities),
                 .seconds = Seconds(clock_.now() - begun).count()});
}

}  // namespace tutti
