#include "train/device_set.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/numbers.h"
#include "feed/packed/packed_set.h"
#include "model/gpu/out_of_memory.h"
#include "train/gpu_features.h"

namespace tutti {
namespace {

/// A row for every entry of the set.
template <class Value, class Fn>
std::vector<Value> of_entries(const PackedSet& set, Fn value) {
  std::vector<Value> values;
  values.reserve(static_cast<std::size_t>(set.entries()));
  for (std::int64_t i = 0; i < set.entries(); ++i) values.push_back(value(set.entry(i)));
  return values;
}

/// [n_mels, frames] as [frames, n_mels]: what a device gathers is one frame.
void append_by_frames(const PackedSet& set, const PackEntry& entry, std::vector<std::uint16_t>& out) {
  const auto mel = set.mel(entry);
  const auto at = out.size(), mels = static_cast<std::size_t>(set.n_mels());
  const auto frames = static_cast<std::size_t>(entry.frames);
  out.resize(at + mel.size());
  for (std::size_t bin = 0; bin < mels; ++bin)
    for (std::size_t frame = 0; frame < frames; ++frame) out[at + frame * mels + bin] = mel[bin * frames + frame];
}

/// [rows, 1, 1]
at::Tensor of_rows(const at::Tensor& values, const at::Tensor& rows) {
  return values.index_select(0, rows).reshape({-1, 1, 1});
}

}  // namespace

Result<DeviceSet> DeviceSet::load(std::shared_ptr<const PackedSet> set, at::Device device) {
  const Bytes size = set->features();
  DeviceSet made(std::move(set), device);
  try {
    made.copy_features();
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
    return fail(Fault::exhausted,
                "data-set device: the features take " + bytes_text(size) + ", " + device.str() +
                    " has no memory for them beside the network",
                "Take data-set mapped or memory, or fewer samples (max-samples)");
  }
  return made;
}

void DeviceSet::copy_features() {
  constexpr std::int64_t kAtOnce = 16 << 20;  // values put in order on the host before they go over
  const PackedSet& set = *set_;
  std::vector<std::int64_t> firsts;
  std::int64_t all = 0;
  for (std::int64_t i = 0; i < set.entries(); ++i) {
    firsts.push_back(all);
    all += set.entry(i).frames;
  }
  auto features = at::empty({all, set.n_mels()}, at::TensorOptions(device_).dtype(at::kHalf));
  std::vector<std::uint16_t> part;
  std::int64_t copied = 0;
  const auto copy_part = [&] {
    const std::int64_t frames = std::ssize(part) / set.n_mels();
    if (frames > 0)
      features.narrow(0, copied, frames).copy_(at::from_blob(part.data(), {frames, set.n_mels()}, at::kHalf));
    copied += frames;
    part.clear();
  };
  for (std::int64_t i = 0; i < set.entries(); ++i) {
    append_by_frames(set, set.entry(i), part);
    if (std::ssize(part) >= kAtOnce) copy_part();
  }
  copy_part();
  const auto on_device = [&](const auto& values) { return at::tensor(values).to(device_); };
  firsts_ = on_device(firsts);
  columns_ = on_device(of_entries<std::int64_t>(set, [](const PackEntry& it) { return std::int64_t{it.frames}; }));
  silences_ = on_device(of_entries<float>(set, [](const PackEntry& it) { return it.silence; }));
  means_ = on_device(of_entries<float>(set, [](const PackEntry& it) { return it.mean; }));
  features_ = std::move(features);
}

at::Tensor DeviceSet::operator()(const Batch& batch) {
  if (!features_.defined()) return gather_on_host(batch);
  try {
    return gather(batch);
  } catch (const std::exception& problem) {
    if (device_.is_cpu() || !is_out_of_memory(problem)) throw;
    // What is enqueued may still read it, on a stream that its memory is not of.
    features_.record_stream(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
    features_.reset();
    log(Level::warning, "memory ran out: the set leaves the device; batches are gathered on the host from now on");
    return gather_on_host(batch);
  }
}

at::Tensor DeviceSet::gather(const Batch& batch) const {
  std::vector<std::int64_t> entries, real;
  std::vector<const SpectrumMasks*> masks;
  for (std::size_t row = 0; row < batch.gather().size(); ++row) {
    entries.push_back(batch.gather()[row].entry);
    masks.push_back(&batch.gather()[row].masks);
    real.push_back(batch.samples[row].frames);
  }
  const auto rows = at::tensor(entries).to(device_);
  const auto frame = at::arange(batch.frames, at::TensorOptions(device_).dtype(at::kLong)).reshape({1, 1, -1});
  const auto is_kept = frame.lt(of_rows(columns_, rows));  // [rows, 1, frames]; behind them is silence
  const auto gather = ((of_rows(firsts_, rows) + frame) * is_kept).flatten();
  auto mel = features_.index_select(0, gather).reshape({batch.size(), batch.frames, batch.n_mels});
  mel = at::where(is_kept, mel.transpose(1, 2).to(at::kFloat), of_rows(silences_, rows));
  return masked_with(mel, real, masks, of_rows(means_, rows)).contiguous();
}

at::Tensor DeviceSet::gather_on_host(const Batch& batch) const {
  auto mel = at::empty({batch.size(), batch.n_mels, batch.frames}, at::kFloat);
  float* row = mel.mutable_data_ptr<float>();
  for (const GatherIndex& index : batch.gather()) {
    gather_row(*set_, set_->entry(index.entry), index.masks, row, batch.frames);
    row += batch.n_mels * batch.frames;
  }
  return mel;
}

}  // namespace tutti
