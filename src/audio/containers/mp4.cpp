#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "audio/containers/audio_length.h"

namespace tutti {
namespace {

struct Box {
  std::int64_t body = 0;
  std::int64_t end = 0;
};

/// The first box of a kind in [at, end) (ISO 14496-12).
std::optional<Box> find_box(Peek& peek, std::int64_t at, std::int64_t end, std::string_view kind) {
  constexpr int kMostBoxes = 10'000;
  for (int box = 0; box < kMostBoxes && at < end; ++box) {
    const auto head = peek.at(at, 8);
    if (head.empty()) return {};
    const bool found = head.substr(4) == kind;
    std::uint64_t size = number(head.substr(0, 4), true);
    std::int64_t body = at + 8;
    if (size == 1) {  // the size takes 64 bits
      const auto large = peek.at(body, 8);
      if (large.empty()) return {};
      size = number(large, true);
      body += 8;
    }
    if (size == 0) size = static_cast<std::uint64_t>(end - at);  // to the end
    if (size < static_cast<std::uint64_t>(body - at) || size > std::uint64_t{1} << 48) return {};
    if (found) return Box{body, at + static_cast<std::int64_t>(size)};
    at += static_cast<std::int64_t>(size);
  }
  return {};
}

/// A number of 32 bits, or of 64 where the box is of version 1; `at` counts from behind version and flags.
struct Wide {
  bool is_wide = false;
  std::size_t size() const { return is_wide ? 8 : 4; }
};

std::optional<Wide> version_of(Peek& peek, const Box& box) {
  const auto version = peek.at(box.body, 1);
  return version.empty() ? std::nullopt : std::optional(Wide{version[0] == 1});
}

/// Ticks a second, of a movie or of a track's media.
std::optional<double> ticks_of(Peek& peek, const std::optional<Box>& header) {
  const auto version = header ? version_of(peek, *header) : std::nullopt;
  if (!version) return {};
  const auto ticks = peek.at(header->body + (version->is_wide ? 20 : 12), 4);
  if (ticks.empty() || number(ticks, true) == 0) return {};
  return static_cast<double>(number(ticks, true));
}

/// What the samples of a track last together, in its ticks.
std::optional<double> ticks_of_samples(Peek& peek, const Box& table) {
  constexpr std::uint64_t kMostEntries = 1 << 16;
  const auto count = peek.at(table.body + 4, 4);
  if (count.empty()) return {};
  const std::uint64_t entries = number(count, true);
  if (entries > kMostEntries) return {};
  double ticks = 0;
  for (std::uint64_t entry = 0; entry < entries; ++entry) {
    const auto run = peek.at(table.body + 8 + static_cast<std::int64_t>(entry) * 8, 8);
    if (run.empty()) return {};
    ticks += static_cast<double>(number(run.substr(0, 4), true)) * static_cast<double>(number(run.substr(4), true));
  }
  return ticks;
}

/// What an edit list shows of a track of `media` seconds; silence before it counts where there is a picture beside.
std::optional<double> edited(Peek& peek, const Box& list, double media, double movie_ticks, bool has_picture) {
  constexpr std::uint64_t kMostEdits = 256;
  const auto version = version_of(peek, list);
  const auto count = peek.at(list.body + 4, 4);
  if (!version || count.empty()) return {};
  const std::uint64_t edits = number(count, true);
  if (edits > kMostEdits) return {};
  double shown = 0, before = 0;
  const std::size_t size = version->size();
  for (std::uint64_t edit = 0; edit < edits; ++edit) {
    const auto entry = peek.at(list.body + 8 + static_cast<std::int64_t>(edit * (2 * size + 4)), 2 * size);
    if (entry.empty()) return {};
    const double length = static_cast<double>(number(entry.substr(0, size), true)) / movie_ticks;
    const std::uint64_t from = number(entry.substr(size), true), nowhere = ~std::uint64_t{0} >> (64 - 8 * size);
    if (from == nowhere)
      before += has_picture ? length : 0;
    else
      shown += length > 0 ? length : media;
  }
  return before + (shown > 0 ? std::min(shown, media) : media);
}

std::optional<double> track_length(Peek& peek, const Box& track, double movie_ticks, bool has_picture) {
  const auto media = find_box(peek, track.body, track.end, "mdia");
  const auto inner = [&](const std::optional<Box>& box, std::string_view kind) {
    return box ? find_box(peek, box->body, box->end, kind) : std::nullopt;
  };
  const auto ticks = ticks_of(peek, inner(media, "mdhd"));
  const auto samples = inner(inner(inner(media, "minf"), "stbl"), "stts");
  const auto all = samples ? ticks_of_samples(peek, *samples) : std::nullopt;
  if (!ticks || !all) return {};
  const double length = *all / *ticks;
  const auto list = inner(find_box(peek, track.body, track.end, "edts"), "elst");
  return list ? edited(peek, *list, length, movie_ticks, has_picture) : length;
}

bool is_kind(Peek& peek, const Box& track, std::string_view kind) {
  const auto media = find_box(peek, track.body, track.end, "mdia");
  const auto handler = media ? find_box(peek, media->body, media->end, "hdlr") : std::nullopt;
  return handler && peek.at(handler->body + 8, 4) == kind;
}

std::vector<Box> boxes_of(Peek& peek, const Box& in, std::string_view kind) {
  constexpr std::size_t kMost = 256;
  std::vector<Box> found;
  for (auto box = find_box(peek, in.body, in.end, kind); box && found.size() < kMost;
       box = find_box(peek, box->end, in.end, kind))
    found.push_back(*box);
  return found;
}

/// Whether what the last box holds is not all there.
bool is_cut(ByteSource& bytes, Peek& peek) {
  const auto content = find_box(peek, 0, bytes.size(), "mdat");
  return !content || content->end > bytes.size();
}

}  // namespace

/// The length by the sample tables: a length in the headers of the whole file covers the picture, too. None where audio
/// tracks differ, because it is not known which one is taken, and where fragments (mvex) follow.
std::optional<Seconds> mp4_length(ByteSource& bytes) {
  Peek peek(bytes);
  const std::string_view start = peek.at(4, 4);
  if (start != "ftyp" && start != "moov" && start != "mdat" && start != "free" && start != "wide") return {};
  const auto movie = find_box(peek, 0, bytes.size(), "moov");
  if (!movie || is_cut(bytes, peek) || find_box(peek, movie->body, movie->end, "mvex")) return {};
  const auto ticks = ticks_of(peek, find_box(peek, movie->body, movie->end, "mvhd"));
  if (!ticks) return {};
  const auto tracks = boxes_of(peek, *movie, "trak");
  const bool has_picture = std::ranges::any_of(tracks, [&](const Box& track) { return is_kind(peek, track, "vide"); });
  constexpr double kAlike = 0.5;
  std::optional<double> length;
  for (const Box& track : tracks) {
    if (!is_kind(peek, track, "soun")) continue;
    const auto one = track_length(peek, track, *ticks, has_picture);
    if (!one || (length && std::abs(*one - *length) > kAlike)) return {};
    length = length.value_or(*one);
  }
  return length ? std::optional(Seconds(*length)) : std::nullopt;
}

}  // namespace tutti
