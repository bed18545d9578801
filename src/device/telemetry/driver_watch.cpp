#include "device/telemetry/driver_watch.h"

namespace tutti {

class DriverWatch::Sink final : public GpuSink {
 public:
  explicit Sink(const DriverWatch& watch) : watch_(watch), table_(watch.driver_->table) {}

  bool may_query(std::string_view uuid) const override {
    return watch_.is_needed_() &&
           table_.with([&](const GpuTable& table) { return table.may_query(watch_.reader_, uuid); });
  }
  void on_query(std::string_view uuid) override {
    // A reader that is not needed any more may have outlived the clock.
    if (!watch_.is_needed_()) return;
    table_.with([&](GpuTable& table) { table.on_query(watch_.reader_, uuid, watch_.clock_.now()); });
  }
  void idle() override {
    table_.with([&](GpuTable& table) { table.idle(watch_.reader_); });
  }
  void answered(GpuSnapshot gpu) override {
    table_.with([&](GpuTable& table) { table.answered(std::move(gpu)); });
  }
  void xid(std::string_view uuid, int code) override {
    table_.with([&](GpuTable& table) { table.xid(uuid, code, std::chrono::system_clock::now()); });
  }

 private:
  const DriverWatch& watch_;
  Guarded<GpuTable>& table_;
};

DriverWatch::DriverWatch(std::shared_ptr<DriverState> driver, int reader, const Clock& clock,
                         std::function<bool()> is_needed)
    : driver_(std::move(driver)),
      reader_(reader),
      clock_(clock),
      is_needed_(std::move(is_needed)),
      nvml_(driver_->view) {}

void DriverWatch::read_once() {
  if (!is_needed_()) return;
  Sink sink(*this);
  const auto now = clock_.now();
  auto round = nvml_.read(sink, now);
  if (!round && is_needed_()) {
    const Error why = round.error();
    round = smi_.read(sink, now);
    if (round)
      round->notes.push_back(why.text());
    else
      round = tl::unexpected(why);
  }
  if (!is_needed_()) return;
  driver_->table.with([&](GpuTable& table) { round ? table.finished(*round) : table.failed(round.error()); });
}

void measure_all_pcie(DriverState& driver, const Clock& clock, const std::function<bool()>& is_needed) {
  const NvmlView view = driver.view->with([](const NvmlView& shared) { return shared; });
  if (!view.listing) return;
  for (const auto& card : view.listing->cards) {
    const std::string uuid = key_of(card.gpu);
    if (!is_needed()) return;
    if (driver.table.with([&](const GpuTable& table) { return table.hangs(uuid, clock.now()); })) continue;
    const GpuPcie measured = measure_pcie(*view.library, card.device);
    if (is_needed()) driver.table.with([&](GpuTable& table) { table.pcie(uuid, measured, clock.now()); });
  }
}

}  // namespace tutti
