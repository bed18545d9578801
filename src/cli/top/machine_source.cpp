#include "cli/top/machine_view.h"
#include "cli/top/source.h"
#include "device/telemetry/sampler.h"

namespace tutti {
namespace {

constexpr Seconds kFirstReadings{2.5};  // loads are rates: they need two samples

class MachineSource final : public TopSource {
 public:
  MachineSource() { (void)sampler_.settled(kFirstReadings); }

  Result<TopData> look() override { return machine_view(*sampler_.latest(), Clock::real().now()); }
  Result<std::string> act(const TopWish&) override {
    return fail(Fault::usage, "no batch is running here: there is nothing to drain or cancel");
  }

 private:
  Sampler sampler_;
};

}  // namespace

std::unique_ptr<TopSource> machine_source() {
  return std::make_unique<MachineSource>();
}

}  // namespace tutti
