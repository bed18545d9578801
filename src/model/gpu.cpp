#include "model/gpu.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include "base/field_names.h"
#include "base/library_call.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "model/gpu_part.h"

namespace tutti::gpu {
namespace {

/// The loaded part; null where there is none. Nothing is ever unloaded: torch's kernels have registered themselves.
const Part* load_part() {
  if (!::dlopen("libcuda.so.1", RTLD_NOW))
    return nullptr;  // no driver, so no GPU; torch's half is not worth its memory
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    log(Level::warning, std::string("without CUDA: ") + ::dlerror());
    return nullptr;
  }
  PartEntry* entry = nullptr;
  return look_up(library, kPartEntry, entry) ? entry() : nullptr;
}

const Part* part() {
  static const Part* const found = load_part();
  return found;
}

/// `query(part)`, with what torch throws turned into a value. A missing device is named before torch is called.
template <class Query>
auto queried(int index, Query&& query) -> Result<decltype(query(*part()))> {
  const auto thing = "cuda:" + std::to_string(index);
  if (index < 0 || index >= count()) {
    return fail(Fault::missing, thing + ": this process sees " + std::to_string(count()) + " CUDA devices",
                "Check nvidia-smi and CUDA_VISIBLE_DEVICES, or use " + field("device") + " cpu");
  }
  try {
    return query(*part());
  } catch (const c10::Error& error) {
    return fail(Fault::device, thing + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return fail(Fault::device, thing + ": " + error.what());
  }
}

}  // namespace

int count() {
  return part() ? part()->count() : 0;
}

Result<Facts> facts(int index) {
  return queried(index, [&](const Part& cuda) { return cuda.facts(index); });
}

Result<Memory> memory(int index) {
  return queried(index, [&](const Part& cuda) { return cuda.memory(index); });
}

void synchronize(int index) {
  if (part()) part()->synchronize(index);
}

void release_cached_memory() {
  if (count() > 0) part()->release_cached_memory();
}

bool can_access(int index, int peer) {
  return part() && part()->can_access(index, peer);
}

Result<void> limit_memory(int index, Bytes most) {
  const auto now = TRY(memory(index));
  if (most.value > now.total.value)
    return fail(Fault::usage, "cuda:" + std::to_string(index) + ": a limit of " + megabytes_text(most) +
                                  " is more than its memory, " + megabytes_text(now.total));
  const auto limited = queried(index, [&](const Part& cuda) {
    cuda.limit_memory(index, static_cast<double>(most.value) / static_cast<double>(now.total.value));
    return true;
  });
  return limited ? Result<void>() : tl::unexpected<Error>(limited.error());
}

const StepKernels* step_kernels() {
  return part() ? part()->step_kernels() : nullptr;
}

Stream current_stream(int index) {
  return part() ? part()->current_stream(index) : nullptr;
}

std::shared_ptr<StepRecorder> make_recorder(int index, Urgency urgency) {
  return part() ? part()->make_recorder(index, urgency) : nullptr;
}

void use_urgent_stream(int index) {
  if (part()) part()->use_urgent_stream(index);
}

std::shared_ptr<SideStream> make_side_stream(int index) {
  return part() ? part()->make_side_stream(index) : nullptr;
}

Result<std::string> card_sum_key(int index) {
  return queried(index, [](const Part& cuda) { return cuda.card_sum_key(); });
}

Result<std::shared_ptr<CardSum>> make_card_sum(int index, const std::string& key, int rank, int ranks) {
  return queried(index, [&](const Part& cuda) { return cuda.make_card_sum(index, key, rank, ranks); });
}

}  // namespace tutti::gpu
