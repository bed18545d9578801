#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "model/decoder_step/kernels.h"
#include "model/decoder_step/step_recorder.h"

/// What only CUDA can do, as plain calls. Behind them is libtutti-cuda.so (gpu_cuda.cpp), which brings libtorch's CUDA
/// half with it; it is loaded at its first use, where there is a driver: a worker on a CPU never pays for it. Without
/// it there are no devices. `index` is CUDA's own number of the device in this process. Thread-safe.
namespace tutti::gpu {

class CardSum;

inline constexpr const char* kLibrary = "libtutti-cuda.so";

/// CUDA devices this process sees; 0 without CUDA, a driver or a GPU. Must have been called before torch is first
/// called for a CUDA device: torch remembers for good that it has no CUDA half.
int count();

/// What a GPU is, whatever it does.
struct Facts {
  std::string name{};  // "NVIDIA H100 80GB HBM3"
  std::string uuid{};  // as NVML and nvidia-smi write it: "GPU-8ba2f4d1-..."
  Bytes memory{};
  int capability = 0;  // 75 for Turing, 80 for Ampere, 90 for Hopper
  int processors = 0;  // streaming multiprocessors
};

/// Fault::missing: this process sees no such device; Fault::device: it does not answer. So below.
Result<Facts> facts(int index);

struct Memory {
  Bytes free{};  // on the device, what torch keeps for reuse not counted
  Bytes total{};
};

/// At this moment, of all processes.
Result<Memory> memory(int index);

/// Waits for everything enqueued on the device's current stream. Throws what torch throws where the device has failed.
void synchronize(int index);

/// Gives memory that torch keeps for reuse back to the device, on every device.
void release_cached_memory();

/// Whether one device's copies read another's memory directly, both below count(): peer to peer.
bool can_access(int index, int peer);

/// From now on torch's allocator takes no more than so much of the device; what it cannot take throws as if the device
/// were full. Fault::usage where the device has less, with what it has.
Result<void> limit_memory(int index, Bytes most);

/// The kernels of a decoder step; null without CUDA.
const StepKernels* step_kernels();

/// The stream that torch enqueues on now. `index` below count().
Stream current_stream(int index);

/// Work beside that of the device's current stream. One thread at a time; what fails there throws what torch throws.
class SideStream {
 public:
  virtual ~SideStream() = default;
  /// Calls `work`, whose operators go onto this stream, behind all that the current stream has by now. Memory that they
  /// allocate belongs to this stream: whatever else reads it must be done before it is released.
  virtual void run(const std::function<void()>& work) = 0;
  /// Whether the device is through with what ran last.
  virtual bool done() = 0;
  virtual void wait() = 0;
};

/// How urgent a stream's or a recording's kernels are to a device that is busy with others.
enum class Urgency { usual, high };

/// CUDA graphs on that device. `index` below count().
std::shared_ptr<StepRecorder> make_recorder(int index, Urgency urgency = Urgency::usual);

/// Makes a stream of high urgency this thread's current one, for good, once all before it is done. `index` below
/// count().
void use_urgent_stream(int index);

/// A stream of the usual urgency. `index` below count().
std::shared_ptr<SideStream> make_side_stream(int index);

/// What the processes of a CardSum (gpu/card_sum.h) must agree on: made by one, passed to all. Bytes.
Result<std::string> card_sum_key(int index);

/// Joins the GPUs of `ranks` processes, ours being that of `rank`; waits for the others.
Result<std::shared_ptr<CardSum>> make_card_sum(int index, const std::string& key, int rank, int ranks);

}  // namespace tutti::gpu
