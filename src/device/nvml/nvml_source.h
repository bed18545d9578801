#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/guarded.h"
#include "device/nvml/readings.h"
#include "device/telemetry/gpu_source.h"

namespace tutti {

/// The library and its list of GPUs, shared by those who query it at the same time.
struct NvmlView {
  std::shared_ptr<const NvmlLibrary> library{};
  std::shared_ptr<const NvmlListing> listing{};
  Clock::Instant listed{};                 ///< when
  std::optional<Clock::Instant> opened{};  ///< when the library was loaded, or loading it was begun
  std::set<std::string> seen{};            ///< every UUID that ever was in the list
};

/// GPUs by NVML. Moving values are read each time, steady ones and the list of GPUs every 10 s. While a GPU is
/// missing the library is loaded again every 10 s, for only then does it find GPUs that came back.
class NvmlSource final : public GpuSource {
 public:
  /// Goes on with what `view` holds, so that a new source needs nothing of a driver that hangs.
  explicit NvmlSource(std::shared_ptr<Guarded<NvmlView>> view) : shared_(std::move(view)) {}
  ~NvmlSource() override;
  Result<GpuRound> read(GpuSink& sink, Clock::Instant now) override;

 private:
  struct Card {
    unsigned long long last_seen = 0;
    GpuSnapshot steady{};
    std::optional<Clock::Instant> steady_read{};
  };
  Result<NvmlView> current(GpuSink& sink, Clock::Instant now);
  Result<void> open(NvmlView& view, Clock::Instant now);
  void drop_events();
  Result<void> list(NvmlView& view, Clock::Instant now);
  void watch_events(const NvmlView& view);
  void take_events(const NvmlView& view, GpuSink& sink) const;
  GpuSnapshot read_card(const NvmlView& view, const NvmlCard& card, Clock::Instant now);

  std::shared_ptr<Guarded<NvmlView>> shared_;
  std::map<std::string, Card> cards_;
  std::set<std::string> lost_;     // those that reported it in the last round, or are missing from the list
  std::optional<Error> not_open_;  // why the library could not be loaded
  std::shared_ptr<const NvmlLibrary> events_library_;  // keeps it loaded as long as its events
  nvml::EventSet events_ = nullptr;
  std::set<nvml::Device> watched_;  // their Xids are reported
};

/// Bytes per second over PCIe of one GPU: two calls of 20 ms each.
GpuPcie measure_pcie(const NvmlLibrary& library, nvml::Device device);

/// A GPU's UUID, or where the driver does not report it, its PCI bus id or its index in the list.
std::string key_of(const Gpu& gpu);

}  // namespace tutti
