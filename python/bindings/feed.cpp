#include "public/tutti/feed.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "parts.h"

namespace nb = nanobind;

namespace tutti::python {
namespace {

/// A feed whose wait for a batch a signal can end. That batch is then the next call's.
class WaitingFeed {
 public:
  explicit WaitingFeed(Feed feed) : feed_(std::make_unique<Feed>(std::move(feed))) {}

  Result<std::optional<Batch>> next() {
    const std::lock_guard one_at_a_time(*turn_);
    if (!drawn_.valid()) drawn_ = std::async(std::launch::async, [feed = feed_.get()] { return feed->next(); });
    while (drawn_.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
      if (!no_signal()) return fail(Fault::cancelled, "its caller no longer waits");
    return drawn_.get();
  }
  Feed& feed() { return *feed_; }

 private:
  std::unique_ptr<std::mutex> turn_ = std::make_unique<std::mutex>();
  std::unique_ptr<Feed> feed_;
  std::future<Result<std::optional<Batch>>> drawn_{};  // ends before the feed does
};

using OwnedFeed = Owned<WaitingFeed>;

/// [samples, n_mels, frames] float32: the batch's own memory, which it shares with the array.
auto features_of(const Batch& batch) {
  auto* const shared = new HostBuffer(batch.mel());
  const nb::capsule owner(shared, [](void* buffer) noexcept { delete static_cast<HostBuffer*>(buffer); });
  const auto shape = {static_cast<std::size_t>(batch.size()), static_cast<std::size_t>(batch.n_mels),
                      static_cast<std::size_t>(batch.frames)};
  return nb::ndarray<nb::numpy, float>(shared->data(), shape, owner);
}

void add_augmentation(nb::module_& module) {
  nb::class_<Augmentation>(module, "Augmentation")
      .def(nb::init<>())
      .def_rw("speed_share", &Augmentation::speed_share)
      .def_rw("gain_share", &Augmentation::gain_share)
      .def_rw("noise_share", &Augmentation::noise_share)
      .def_rw("room_share", &Augmentation::room_share)
      .def("set_noise_db",
           [](Augmentation& self, double least, double most) {
             self.noise_db = {least, most};
           })
      .def("set_masks", [](Augmentation& self, int bands, int stretches) {
        self.spectrum.band_count = bands;
        self.spectrum.stretch_count = stretches;
      });
}

void add_feed_options(nb::module_& module) {
  nb::enum_<Chunking>(module, "Chunking")
      .value("refused", Chunking::refused)
      .value("sequential", Chunking::sequential)
      .value("sliding", Chunking::sliding)
      .value("random", Chunking::random);
  nb::class_<FeedOptions>(module, "FeedOptions")
      .def(nb::init<>())
      .def_rw("data", &FeedOptions::data)
      .def_rw("split", &FeedOptions::split)
      .def_rw("max_samples", &FeedOptions::max_samples)
      .def_rw("seed", &FeedOptions::seed)
      .def_rw("epochs", &FeedOptions::epochs)
      .def_rw("shuffle", &FeedOptions::shuffle)
      .def_rw("rank", &FeedOptions::rank)
      .def_rw("ranks", &FeedOptions::ranks)
      .def_rw("n_mels", &FeedOptions::n_mels)
      .def_rw("frame_multiple", &FeedOptions::frame_multiple)
      .def_rw("batch_size", &FeedOptions::batch_size)
      .def_rw("look_ahead", &FeedOptions::look_ahead)
      .def_rw("ready", &FeedOptions::ready)
      .def_rw("bad_samples", &FeedOptions::bad_samples)
      .def_rw("augmentation", &FeedOptions::augmentation)
      .def("set_bad_limits",
           [](FeedOptions& self, std::int64_t count, double share) {
             self.bad_limits.count = count;
             self.bad_limits.share = share;
           })
      .def("set_resume",
           [](FeedOptions& self, const nb::bytes& position) { self.resume.assign(position.c_str(), position.size()); })
      .def("set_batch_audio", [](FeedOptions& self, double seconds) { self.batch_audio = Seconds(seconds); })
      .def("set_threads",
           [](FeedOptions& self, int computing, int reading) { self.threads = FeedThreads::of(computing, reading); })
      .def("set_cache", [](FeedOptions& self, const std::filesystem::path& folder) { self.cache.folder = folder; })
      .def("set_chunking", [](FeedOptions& self, Chunking how) { self.chunking = how; })
      .def("pad_to_window", [](FeedOptions& self) { self.padding = Padding::window; });
}

void add_batch(nb::module_& module) {
  nb::class_<BatchSample>(module, "BatchSample")
      .def_ro("id", &BatchSample::id)
      .def_ro("text", &BatchSample::text)
      .def_ro("frames", &BatchSample::frames);
  nb::class_<Batch>(module, "Batch")
      .def_ro("index", &Batch::index)
      .def_ro("epoch", &Batch::epoch)
      .def_ro("samples", &Batch::samples)
      .def_prop_ro("position", [](const Batch& self) { return nb::bytes(self.position.data(), self.position.size()); })
      .def("features", features_of);
}

}  // namespace

void add_feed(nb::module_& module) {
  add_augmentation(module);
  add_feed_options(module);
  add_batch(module);
  nb::class_<OwnedFeed>(module, "Feed")
      .def_static("open",
                  [](const FeedOptions& options) {
                    return OwnedFeed(
                        WaitingFeed(call([&] { return unless_signalled([options] { return Feed::open(options); }); })));
                  })
      .def("next", [](OwnedFeed& self) { return call([own = self.get()] { return own->next(); }); })
      .def("samples_per_epoch", [](OwnedFeed& self) { return self.get()->feed().samples_per_epoch(); })
      .def("bad_samples", [](OwnedFeed& self) { return self.get()->feed().report().bad_samples; })
      .def("close", &OwnedFeed::close);
}

}  // namespace tutti::python
