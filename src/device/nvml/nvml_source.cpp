#include "device/nvml/nvml_source.h"

#include "base/try.h"
#include "device/nvml/nvml.h"
#include "device/nvml/readings.h"

namespace tutti {
namespace {

constexpr Seconds kListEvery{10}, kReopenEvery{10}, kSteadyEvery{10};
constexpr int kMostEvents = 64;  // taken per round: a GPU can report faster than we read

}  // namespace

std::string key_of(const Gpu& gpu) {
  if (gpu.uuid) return *gpu.uuid;
  return gpu.pci_bus_id ? *gpu.pci_bus_id : "GPU " + std::to_string(gpu.index);
}

NvmlSource::~NvmlSource() {
  drop_events();
}

void NvmlSource::drop_events() {
  if (events_ && events_library_->free_events) events_library_->free_events(events_);
  events_ = nullptr;
  events_library_.reset();
  watched_.clear();
}

Result<void> NvmlSource::open(NvmlView& view, Clock::Instant now) {
  drop_events();
  view = {.opened = now, .seen = std::move(view.seen)};
  // Published before it is done: a reader that takes over from us when this hangs must not do the same.
  shared_->with([&](NvmlView& shared) { shared = view; });
  auto library = NvmlLibrary::load();
  not_open_ = library ? std::nullopt : std::optional(library.error());
  if (!library) return tl::unexpected(library.error());
  view.library = std::move(*library);
  return {};
}

Result<void> NvmlSource::list(NvmlView& view, Clock::Instant now) {
  view.listed = now;
  auto listing = TRY(list_cards(*view.library));
  view.listing = std::make_shared<const NvmlListing>(std::move(listing));
  std::set<std::string> present;
  for (const auto& card : view.listing->cards) present.insert(key_of(card.gpu));
  lost_.clear();
  for (const auto& uuid : view.seen)
    if (!present.contains(uuid)) lost_.insert(uuid);
  view.seen.insert(present.begin(), present.end());
  // A GPU without a handle has no name either, but it shows that the list is not whole.
  if (!view.listing->problems.empty()) lost_.insert("");
  watch_events(view);
  return {};
}

/// The view to work with in this round; loads and lists where that is due.
Result<NvmlView> NvmlSource::current(GpuSink& sink, Clock::Instant now) {
  NvmlView view = shared_->with([](const NvmlView& shared) { return shared; });
  bool all_answer = sink.may_query("");
  if (view.listing)
    for (const auto& card : view.listing->cards) all_answer = all_answer && sink.may_query(key_of(card.gpu));
  // The list queries every GPU: not while one of them hangs.
  if (view.listing && !all_answer) return view;
  const bool is_recent = view.opened && now - *view.opened < kReopenEvery;
  if (!all_answer || (!view.library && is_recent))
    return tl::unexpected(not_open_.value_or(Error{Fault::device, "NVIDIA's management library does not answer"}));
  sink.on_query("");
  Result<void> done;
  if (!view.library || (!lost_.empty() && !is_recent)) done = open(view, now);
  if (done && (!view.listing || now - view.listed >= kListEvery)) done = list(view, now);
  shared_->with([&](NvmlView& shared) { shared = view; });
  TRY(done);
  if (!events_) watch_events(view);
  return view;
}

void NvmlSource::watch_events(const NvmlView& view) {
  const NvmlLibrary& library = *view.library;
  if (!library.make_events || !library.watch_events || !library.next_event) return;
  drop_events();
  if (library.make_events(&events_) != nvml::kSuccess) {
    events_ = nullptr;
    return;
  }
  events_library_ = view.library;
  for (const auto& card : view.listing->cards)
    if (library.watch_events(card.device, nvml::kXidEvent, events_) == nvml::kSuccess) watched_.insert(card.device);
}

void NvmlSource::take_events(const NvmlView& view, GpuSink& sink) const {
  if (!events_) return;
  nvml::Event event{};
  for (int i = 0; i < kMostEvents && view.library->next_event(events_, &event, 0) == nvml::kSuccess; ++i)
    for (const auto& card : view.listing->cards)
      if (card.device == event.device && event.type == nvml::kXidEvent)
        sink.xid(key_of(card.gpu), static_cast<int>(event.data));
}

GpuSnapshot NvmlSource::read_card(const NvmlView& view, const NvmlCard& card, Clock::Instant now) {
  Card& known = cards_[key_of(card.gpu)];
  NvmlQuery query(*view.library, card.device);
  GpuSnapshot gpu{.uuid = key_of(card.gpu), .pci_bus_id = card.gpu.pci_bus_id, .name = card.gpu.name};
  gpu.index = card.gpu.index;
  read_moving_values(query, known.last_seen, gpu);
  if (known.steady_read && now - *known.steady_read < kSteadyEvery) {
    keep_steady_values(known.steady, gpu);
  } else {
    read_steady_values(query, gpu);
    if (watched_.contains(card.device)) gpu.errors.xids.emplace();
    known.steady = gpu;
    known.steady_read = now;
  }
  if (const auto why = query.loss()) {
    known = {};
    GpuSnapshot lost{.uuid = gpu.uuid, .pci_bus_id = gpu.pci_bus_id, .name = gpu.name, .state = GpuState::lost};
    lost.reason = "the driver reports: " + *why;
    lost.memory.total = card.gpu.memory_total;
    return lost;
  }
  gpu.when = now;
  return gpu;
}

Result<GpuRound> NvmlSource::read(GpuSink& sink, Clock::Instant now) {
  auto view = current(sink, now);
  if (!view) {
    sink.idle();
    return tl::unexpected(view.error());
  }
  if (sink.may_query("")) {
    sink.on_query("");
    take_events(*view, sink);
  }
  GpuRound round{
      .source = "nvml", .driver = driver_version(*view->library), .uuids = {}, .notes = view->listing->problems};
  for (const auto& card : view->listing->cards) {
    const std::string uuid = key_of(card.gpu);
    round.uuids.push_back(uuid);
    if (!sink.may_query(uuid)) continue;
    sink.on_query(uuid);
    GpuSnapshot gpu = read_card(*view, card, now);
    if (gpu.state == GpuState::lost) lost_.insert(uuid);
    sink.answered(std::move(gpu));
  }
  sink.idle();
  return round;
}

GpuPcie measure_pcie(const NvmlLibrary& library, nvml::Device device) {
  NvmlQuery query(library, device);
  GpuPcie pcie;
  // NVML reports kilobytes per second over the last 20 ms.
  if (const auto sent = query.value(library.pcie_throughput, nvml::kPcieSent)) pcie.sent = *sent * 1024.0;
  if (const auto received = query.value(library.pcie_throughput, nvml::kPcieReceived))
    pcie.received = *received * 1024.0;
  return pcie;
}

}  // namespace tutti
