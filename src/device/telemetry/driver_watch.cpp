#include "device/telemetry/driver_watch.h"

namespace tutti {

class DriverWatch::Sink final : public GpuSink {
 public:
  explicit Sink(const DriverWatch& watch) : watch_(watch), book_(watch.desk_->book) {}

  bool may_ask(std::string_view uuid) const override {
    return watch_.is_needed_() && book_.with([&](const GpuBook& book) { return book.may_ask(watch_.reader_, uuid); });
  }
  void asking(std::string_view uuid) override {
    // Whoever is not needed any more may have outlived the clock.
    if (!watch_.is_needed_()) return;
    book_.with([&](GpuBook& book) { book.asking(watch_.reader_, uuid, watch_.clock_.now()); });
  }
  void idle() override {
    book_.with([&](GpuBook& book) { book.idle(watch_.reader_); });
  }
  void answered(GpuSnapshot gpu) override {
    book_.with([&](GpuBook& book) { book.answered(std::move(gpu)); });
  }
  void xid(std::string_view uuid, int code) override {
    book_.with([&](GpuBook& book) { book.xid(uuid, code, std::chrono::system_clock::now()); });
  }

 private:
  const DriverWatch& watch_;
  Guarded<GpuBook>& book_;
};

DriverWatch::DriverWatch(std::shared_ptr<DriverDesk> desk, int reader, const Clock& clock,
                         std::function<bool()> is_needed)
    : desk_(std::move(desk)), reader_(reader), clock_(clock), is_needed_(std::move(is_needed)), nvml_(desk_->view) {}

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
  desk_->book.with([&](GpuBook& book) { round ? book.finished(*round) : book.failed(round.error()); });
}

void measure_all_pcie(DriverDesk& desk, const Clock& clock, const std::function<bool()>& is_needed) {
  const NvmlView view = desk.view->with([](const NvmlView& shared) { return shared; });
  if (!view.listing) return;
  for (const auto& card : view.listing->cards) {
    const std::string uuid = key_of(card.gpu);
    if (!is_needed()) return;
    if (desk.book.with([&](const GpuBook& book) { return book.hangs(uuid, clock.now()); })) continue;
    const GpuPcie measured = measure_pcie(*view.library, card.device);
    if (is_needed()) desk.book.with([&](GpuBook& book) { book.pcie(uuid, measured, clock.now()); });
  }
}

}  // namespace tutti
