#include "worker/encoder_queue.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace tutti {

/// A device that fails to answer is through as well: `take` throws what happened.
bool BegunEncoding::is_done() const {
  try {
    return encoding->done();
  } catch (const std::exception&) {
    return true;
  }
}

EncoderQueue::EncoderQueue(Network& network, const MelRing& mels, std::int32_t together, MemoryBackoff& backoff,
                           const Clock& clock)
    : network_(network), ring_(mels), backoff_(backoff), clock_(clock), together_(together) {}

void EncoderQueue::open(WindowId id, WindowMel mel) {
  mels_.try_emplace(id, std::move(mel));
  waiting_.push_back(id);
}

void EncoderQueue::close(WindowId id) {
  mels_.erase(id);
  std::erase(waiting_, id);
  if (begun_) std::ranges::replace(begun_->ids, id, kReleased);
}

void EncoderQueue::request(WindowId id) {
  if (begun_ && std::ranges::find(begun_->ids, id) != begun_->ids.end()) return;
  if (std::ranges::find(waiting_, id) == waiting_.end()) waiting_.push_back(id);
}

void EncoderQueue::put_back(const std::vector<WindowId>& ids) {
  waiting_.insert(waiting_.begin(), ids.begin(), ids.end());
}

std::vector<WindowId> EncoderQueue::give_up_begun() {
  std::vector<WindowId> ids;
  if (const auto begun = std::exchange(begun_, std::nullopt))
    std::ranges::copy_if(begun->ids, std::back_inserter(ids), [&](WindowId id) { return mels_.contains(id); });
  return ids;
}

std::optional<std::string> EncoderQueue::encode_singly() {
  if (together_ == 1) return std::nullopt;
  together_ = 1;
  return "windows are encoded one at a time";
}

std::vector<WindowId> EncoderQueue::next() const {
  const auto width = [this](WindowId id) { return mels_.at(id).width; };
  std::vector<WindowId> ids;
  for (const auto id : waiting_) {
    if (std::ssize(ids) == together_ || (!ids.empty() && width(id) != width(ids.front()))) break;
    ids.push_back(id);
  }
  return ids;
}

/// As they were received, where they are side by side; else, and where a window is encoded once more, copied here. All
/// have one width.
at::Tensor EncoderQueue::mels_of(const std::vector<WindowId>& ids) const {
  std::vector<const WindowMel*> mels;
  for (const auto id : ids) mels.push_back(&mels_.at(id));
  if (const auto ready = ring_.side_by_side(mels)) return *ready;
  const auto copied = network_.make_mels(std::ssize(mels)).narrow(2, 0, mels.front()->width);
  for (std::size_t i = 0; i < mels.size(); ++i) ring_.write(*mels[i], copied[static_cast<std::int64_t>(i)]);
  return copied;
}

void EncoderQueue::free_buffers(const std::vector<WindowId>& ids) {
  for (const auto id : ids)
    if (const auto found = mels_.find(id); found != mels_.end()) found->second.buffer.reset();
}

std::optional<EncodedWindows> EncoderQueue::encode(bool beside_steps) {
  std::vector<WindowId> ids;
  std::unique_ptr<Encoding> begun;
  const auto from = clock_.now();
  auto kvs = backoff_.run("encoding a window", [&]() -> std::vector<CrossKv> {
    ids = next();
    if (!beside_steps) return network_.encode_batch(mels_of(ids));
    begun = network_.begin_encoding(mels_of(ids));
    return {};
  });
  waiting_.erase(waiting_.begin(), waiting_.begin() + std::ssize(ids));
  const Seconds spent = clock_.now() - from;
  if (kvs && beside_steps) {
    begun_ = BegunEncoding{.ids = std::move(ids), .encoding = std::move(begun), .spent = spent};
    return std::nullopt;
  }
  if (kvs) free_buffers(ids);
  return EncodedWindows{.ids = std::move(ids), .kvs = std::move(kvs), .spent = spent};
}

EncodedWindows EncoderQueue::finish() {
  auto [ids, encoding, spent] = std::move(*begun_);
  begun_.reset();
  const auto from = clock_.now();
  auto kvs = backoff_.run("encoding a window", [&] { return encoding->take(); });
  if (kvs)
    free_buffers(ids);
  else
    for (const auto id : ids) close(id);
  return {.ids = std::move(ids), .kvs = std::move(kvs), .spent = spent + (clock_.now() - from)};
}

}  // namespace tutti
