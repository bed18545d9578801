#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "arrays.h"
#include "calls.h"
#include "parts.h"
#include "public/tutti/feed.h"

namespace nb = nanobind;

namespace tutti::python {
namespace {

/// A field of the batch as an array of these lengths, which takes its values.
template <class Value, class... Lengths>
nb::object array_of(std::vector<Value>& values, Lengths... lengths) {
  return nb::cast(numpy_array(std::move(values), {static_cast<std::size_t>(lengths)...}));
}

/// By name; a batch of labelled clips has other arrays than one of a voice.
nb::dict arrays_of(SetBatch batch) {
  nb::dict all;
  const std::int64_t rows = batch.rows, frames = batch.frames;
  if (batch.symbols.empty()) {
    all["input_features"] = array_of(batch.features, rows, batch.n_mels, frames);
    all["labels"] = array_of(batch.labels, rows);
    return all;
  }
  all["symbols"] = array_of(batch.symbols, rows, batch.symbol_count);
  all["symbol_lengths"] = array_of(batch.symbol_lengths, rows);
  all["mel"] = array_of(batch.features, rows, frames, batch.n_mels);
  all["mel_lengths"] = array_of(batch.frame_lengths, rows);
  all["pitch"] = array_of(batch.pitch, rows, frames);
  all["energy"] = array_of(batch.energy, rows, frames);
  all["speakers"] = array_of(batch.speakers, rows);
  return all;
}

/// One call at a time draws a batch.
struct SharedSetFeed {
  explicit SharedSetFeed(SetFeed opened) : feed(std::move(opened)) {}

  SetFeed feed;
  std::unique_ptr<std::mutex> turn = std::make_unique<std::mutex>();
};

/// (index, epoch, ids, position, arrays), or None at the end.
nb::object next_of(SharedSetFeed& shared) {
  std::optional<SetBatch> batch;
  {
    const nb::gil_scoped_release released;
    const std::lock_guard one_at_a_time(*shared.turn);
    batch = shared.feed.next();
  }
  if (!batch) return nb::none();
  const nb::bytes position(batch->position.data(), batch->position.size());
  const auto index = batch->index, epoch = batch->epoch;
  const auto ids = nb::cast(batch->ids);
  return nb::make_tuple(index, epoch, ids, position, arrays_of(std::move(*batch)));
}

}  // namespace

void add_set_feed(nb::module_& module) {
  nb::class_<SetFeedOptions>(module, "SetFeedOptions")
      .def(nb::init<>())
      .def_rw("set", &SetFeedOptions::set)
      .def_rw("part", &SetFeedOptions::part)
      .def_rw("batch_size", &SetFeedOptions::batch_size)
      .def_rw("epochs", &SetFeedOptions::epochs)
      .def_rw("seed", &SetFeedOptions::seed)
      .def_rw("rank", &SetFeedOptions::rank)
      .def_rw("ranks", &SetFeedOptions::ranks)
      .def("set_resume", [](SetFeedOptions& self, const nb::bytes& position) {
        self.resume.assign(position.c_str(), position.size());
      });
  nb::class_<SetFacts>(module, "SetFacts")
      .def_ro("rows", &SetFacts::rows)
      .def_ro("n_mels", &SetFacts::n_mels)
      .def_ro("rate", &SetFacts::rate)
      .def_ro("labels", &SetFacts::labels)
      .def_ro("format", &SetFacts::format);
  nb::class_<SharedSetFeed>(module, "SetFeed")
      .def_static("open_labelled",
                  [](const SetFeedOptions& options) {
                    return SharedSetFeed(call([&] { return SetFeed::open_labelled(options); }));
                  })
      .def_static("open_voice",
                  [](const SetFeedOptions& options) {
                    return SharedSetFeed(call([&] { return SetFeed::open_voice(options); }));
                  })
      .def("next", next_of)
      .def("facts", [](const SharedSetFeed& self) { return self.feed.facts(); });
}

}  // namespace tutti::python
