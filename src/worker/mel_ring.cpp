#include "worker/mel_ring.h"

#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

/// [n_mels, frames], only to be read.
at::Tensor as_it_came(const WindowMel& mel, std::int64_t n_mels) {
  // from_blob wants mutable memory.
  return at::from_blob(const_cast<float*>(mel.values.values().data()), {n_mels, mel.frames}, at::kFloat);
}

/// In pieces that torch does not divide among threads: those have the network to compute.
void pad(const WindowMel& mel, const at::Tensor& to) {
  const auto rows = to.size(0), frames = std::int64_t{mel.frames}, rest = to.size(1) - frames;
  const auto from = as_it_came(mel, rows);
  const auto piece = std::max<std::int64_t>(1, (at::internal::GRAIN_SIZE - 1) / to.size(1));
  for (std::int64_t first = 0; first < rows; first += piece) {
    const auto count = std::min(piece, rows - first);
    const auto part = to.narrow(0, first, count);
    part.narrow(1, 0, frames).copy_(from.narrow(0, first, count));
    if (rest > 0) part.narrow(1, frames, rest).zero_();
  }
}

}  // namespace

MelRing::MelRing(at::Tensor buffers, bool takes_short)
    : buffers_(std::move(buffers)),
      plain_(buffers_.scalar_type() == at::kFloat && !buffers_.is_pinned()),
      takes_short_(takes_short),
      taken_(std::make_shared<Guarded<Taken>>(Taken{std::vector<bool>(static_cast<std::size_t>(buffers_.size(0)))})) {}

bool MelRing::ready_as_it_came(const WindowMel& mel) const {
  return plain_ && mel.frames == mel.width;
}

/// The one behind the last one, or the next that is free; the first where all are.
MelBuffer MelRing::take() const {
  const auto found = taken_->with([](Taken& taken) {
    const auto size = taken.buffers.size();
    if (std::ranges::find(taken.buffers, true) == taken.buffers.end()) taken.next = 0;
    for (std::size_t tried = 0; tried < size; ++tried) {
      const auto buffer = (taken.next + tried) % size;
      if (taken.buffers[buffer]) continue;
      taken.buffers[buffer] = true;
      taken.next = (buffer + 1) % size;
      return buffer;
    }
    return kNone;
  });
  if (found == kNone) return nullptr;
  const auto release = [taken = taken_](const std::int64_t* buffer) {
    const std::unique_ptr<const std::int64_t> owned(buffer);
    taken->with([&](Taken& of) { of.buffers[static_cast<std::size_t>(*owned)] = false; });
  };
  return {new std::int64_t(static_cast<std::int64_t>(found)), release};
}

Result<WindowMel> MelRing::receive(const OpenWindow& message, OwnedFd memory) {
  const auto n_mels = buffers_.size(1), most = buffers_.size(2);
  const auto found = std::to_string(message.n_mels) + " x " + std::to_string(message.frames);
  if (message.n_mels != n_mels || message.frames < 1 || message.frames > most) {
    return fail(Fault::usage, "log-mel window of " + found + ": this model takes " + std::to_string(n_mels) +
                                  " bins and 1 to " + std::to_string(most) + " frames");
  }
  const auto positions = std::int64_t{message.positions};
  if (positions != 0 && (positions < 1 || 2 * positions > most || 2 * positions < message.frames)) {
    return fail(Fault::usage, "log-mel window of " + found + ": expected positions for its frames, at most " +
                                  std::to_string(most / 2) + ", found " + std::to_string(positions));
  }
  if (!memory) return fail(Fault::usage, "log-mel window of " + found + " came without its memory");
  auto values = TRY(WindowView::map(
      std::move(memory), static_cast<std::size_t>(message.n_mels) * static_cast<std::size_t>(message.frames)));
  const auto width = takes_short_ && positions > 0 ? 2 * positions : most;
  WindowMel mel{.values = std::move(values), .frames = message.frames, .width = static_cast<std::int32_t>(width)};
  if (ready_as_it_came(mel) || width < most) return mel;
  mel.buffer = take();
  const c10::InferenceMode no_autograd;
  if (mel.buffer) pad(mel, buffers_[*mel.buffer]);
  return mel;
}

std::optional<at::Tensor> MelRing::side_by_side(std::span<const WindowMel* const> mels) const {
  if (mels.empty()) return {};
  if (mels.size() == 1 && ready_as_it_came(*mels[0])) return as_it_came(*mels[0], buffers_.size(1)).unsqueeze(0);
  for (std::size_t i = 0; i < mels.size(); ++i) {
    if (!mels[i]->buffer || *mels[i]->buffer != *mels[0]->buffer + static_cast<std::int64_t>(i)) return {};
  }
  return buffers_.narrow(0, *mels[0]->buffer, std::ssize(mels));
}

void MelRing::write(const WindowMel& mel, const at::Tensor& to) const {
  mel.buffer ? static_cast<void>(to.copy_(buffers_[*mel.buffer])) : pad(mel, to);
}

}  // namespace tutti
