#include <vector>

#include "model/decoder_step/kernel_table.h"

namespace tutti {
namespace {

struct HostLaunch {
  template <class Body, class Job>
  static void run(const Job& job, std::int64_t units, std::int64_t shared_floats, Stream) {
    std::vector<float> shared(static_cast<std::size_t>(shared_floats));
    for (std::int64_t unit = 0; unit < units; ++unit) Body::run(HostTeam{}, job, unit, shared.data());
  }
};

}  // namespace

const StepKernels& host_step_kernels() {
  return KernelTable<HostLaunch>::kTable;
}

}  // namespace tutti
