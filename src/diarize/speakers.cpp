#include "diarize/speakers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/strings.h"

namespace tutti {
namespace {

constexpr float kThreshold = 0.6F;        // cosine distance at which voices are two speakers'
constexpr double kLeastSeconds = 3;       // of speech that a speaker has, where the number is not given
constexpr double kLeastShare = 1.0 / 3;   // or this share of all speech, if that is less
constexpr double kSwitchingCost = 2;      // of a change of speakers, in sums of cosines over frames
constexpr double kNameCosine = 0.5;       // from which on a voice is a known speaker's
constexpr double kDoubtfulCosine = 0.55;  // from which on two speakers may be one
constexpr double kDoubtfulSeconds = 5;    // below which a speaker may be none
constexpr std::string_view kLabel = "SPEAKER_";
constexpr float kSpeech = 0.5F, kTwoVoices = 0.5F;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::size_t count_of(const std::vector<std::size_t>& labels) {
  return labels.empty() ? 0 : 1 + *std::ranges::max_element(labels);
}

/// The mean voice of each cluster, of length 1.
Vectors centroids_of(const Vectors& voices, const std::vector<std::size_t>& labels) {
  Vectors centroids{.values = std::vector<float>(count_of(labels) * voices.dimensions),
                    .dimensions = voices.dimensions};
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t d = 0; d < voices.dimensions; ++d)
      if (labels[i] != kNone) centroids.values[labels[i] * voices.dimensions + d] += voices[i][d];
  for (std::size_t k = 0; k < centroids.size(); ++k)
    normalise(std::span(centroids.values).subspan(k * centroids.dimensions, centroids.dimensions));
  return centroids;
}

std::size_t nearest_voice(std::span<const float> voice, const Vectors& centroids) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < centroids.size(); ++k)
    if (dot(voice, centroids[k]) > dot(voice, centroids[best])) best = k;
  return best;
}

/// Of several speakers' seconds the least, where that is too little for a speaker.
std::optional<std::size_t> smallest_of(const std::vector<double>& seconds) {
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const auto smallest = std::ranges::min_element(seconds);
  if (seconds.size() < 2 || *smallest >= std::min(kLeastSeconds, all * kLeastShare)) return std::nullopt;
  return static_cast<std::size_t>(smallest - seconds.begin());
}

std::optional<std::size_t> too_small(const std::vector<SpeakerPiece>& pieces, const std::vector<std::size_t>& labels,
                                     std::size_t clusters) {
  std::vector<double> seconds(clusters);
  for (std::size_t i = 0; i < labels.size(); ++i) seconds[labels[i]] += pieces[i].seconds();
  return smallest_of(seconds);
}

Vectors without(const Vectors& voices, std::size_t one) {
  Vectors rest;
  for (std::size_t k = 0; k < voices.size(); ++k)
    if (k != one) rest.add(voices[k]);
  return rest;
}

/// The voices of the speakers: clusters of pieces. Those with too little speech go, the smallest first, and each piece
/// moves to the nearest that stays.
Vectors speakers_by(const std::vector<SpeakerPiece>& pieces, const Vectors& voices, std::vector<std::size_t> labels,
                    bool keeps_small) {
  Vectors centroids = centroids_of(voices, labels);
  const auto move_pieces = [&] {
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = nearest_voice(voices[i], centroids);
  };
  while (!keeps_small) {
    const auto smallest = too_small(pieces, labels, centroids.size());
    if (!smallest) break;
    centroids = without(centroids, *smallest);
    move_pieces();
  }
  move_pieces();
  Vectors moved;
  const Vectors means = centroids_of(voices, labels);
  for (std::size_t k = 0; k < means.size(); ++k)
    if (dot(means[k], means[k]) > 0) moved.add(means[k]);
  return moved;
}

/// The frames of the activity that a piece covers.
FrameRange frames_of(const SpeakerPiece& piece, std::size_t frames) {
  const auto at = [&](std::int64_t feature) {
    const double index =
        (static_cast<double>(feature) / kVoiceFramesPerSecond - frame_start(0)) / (frame_start(1) - frame_start(0));
    return static_cast<std::size_t>(std::clamp(std::round(index), 0.0, static_cast<double>(frames)));
  };
  return {at(piece.start), at(piece.end)};
}

/// How like each speaker each frame is, [frames, speakers]: zeros where no piece covers it.
std::vector<float> frame_scores(std::size_t frames, const std::vector<SpeakerPiece>& pieces, const Vectors& voices,
                                const Vectors& speakers) {
  const std::size_t n = speakers.size();
  std::vector<float> scores(frames * n);
  std::vector<int> covered(frames);
  std::vector<float> own(n);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t k = 0; k < n; ++k) own[k] = dot(voices[i], speakers[k]);
    const FrameRange range = frames_of(pieces[i], frames);
    for (std::size_t frame = range.start; frame < range.end; ++frame, ++covered[frame - 1])
      for (std::size_t k = 0; k < n; ++k) scores[frame * n + k] += own[k];
  }
  for (std::size_t frame = 0; frame < frames; ++frame)
    for (std::size_t k = 0; k < n && covered[frame] > 1; ++k)
      scores[frame * n + k] /= static_cast<float>(covered[frame]);
  return scores;
}

/// The speaker of each frame of speech (Viterbi): the path of the largest sum, less what changes cost; kNone elsewhere.
std::vector<std::size_t> speaker_path(const SpeechActivity& activity, std::span<const float> scores, std::size_t n) {
  std::vector<std::size_t> path(activity.frames(), kNone), spoken;
  for (std::size_t frame = 0; frame < activity.frames(); ++frame)
    if (activity.speech[frame] > kSpeech) spoken.push_back(frame);
  std::vector<double> sums(n);
  std::vector<std::uint16_t> from(spoken.size() * n);
  for (std::size_t i = 0; i < spoken.size(); ++i) {
    const auto best = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
    const double least = sums[best] - kSwitchingCost;
    for (std::size_t k = 0; k < n; ++k) {
      const bool stays = sums[k] >= least;
      from[i * n + k] = static_cast<std::uint16_t>(stays ? k : best);
      sums[k] = std::max(sums[k], least) + scores[spoken[i] * n + k];
    }
  }
  auto speaker = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  for (std::size_t i = spoken.size(); i-- > 0;) {
    path[spoken[i]] = speaker;
    speaker = from[i * n + speaker];
  }
  return path;
}

/// The speaker with the least speech on the path, where that is too little for one.
std::optional<std::size_t> too_small(const std::vector<std::size_t>& path, std::size_t speakers) {
  std::vector<double> seconds(speakers);
  for (const std::size_t speaker : path)
    if (speaker != kNone) seconds[speaker] += frame_start(1) - frame_start(0);
  return smallest_of(seconds);
}

/// Speakers, and which of them each frame of speech has.
struct SpeakerPath {
  Vectors speakers{};
  std::vector<std::size_t> path{};
};

/// Finds the speakers of a recording, and their path, for any number of speakers.
class PathFinder {
 public:
  PathFinder(const SpeechActivity& activity, const std::vector<SpeakerPiece>& pieces, const Vectors& voices)
      : activity_(activity), pieces_(pieces), voices_(voices), tree_(voices) {}

  /// By the voices alone, if their number is within the bounds. To have fewer speakers, voices are joined until so many
  /// have enough speech: those with too little are none. To have more, voices with little speech are speakers, too.
  SpeakerPath within(const SpeakerCount& count) const {
    auto found = of(labels_of({.threshold = kThreshold}), /*keeps_small=*/false);
    const std::size_t natural = found.speakers.size();
    const std::size_t wanted = number_within(count, natural);
    if (natural == wanted) return found;
    for (std::size_t clusters = wanted; clusters < wanted + kMostSmall && wanted < natural; ++clusters)
      if (found = of(labels_of(exactly(clusters)), /*keeps_small=*/false); found.speakers.size() == wanted)
        return found;
    return of(labels_of(exactly(wanted)), /*keeps_small=*/true);
  }

 private:
  static constexpr std::size_t kMostSmall = 40;  // clusters with too little speech, among which the others are found

  static Cut exactly(std::size_t clusters) {
    return {.threshold = std::numeric_limits<float>::infinity(), .least = clusters, .most = clusters};
  }
  static std::size_t number_within(const SpeakerCount& count, std::size_t found) {
    if (found == 0) return 0;
    const auto least = static_cast<std::size_t>(count.exact.value_or(count.least.value_or(1)));
    if (found < least) return least;
    const auto most = count.exact ? count.exact : count.most;
    return most ? std::min(found, static_cast<std::size_t>(*most)) : found;
  }
  std::vector<std::size_t> labels_of(const Cut& cut) const {
    return pieces_.empty() ? std::vector<std::size_t>() : tree_.cut(cut);
  }

  SpeakerPath of(std::vector<std::size_t> labels, bool keeps_small) const {
    SpeakerPath found;
    if (!labels.empty()) found.speakers = speakers_by(pieces_, voices_, std::move(labels), keeps_small);
    for (;;) {
      const std::size_t n = std::max<std::size_t>(1, found.speakers.size());
      const auto scores = pieces_.empty() ? std::vector<float>(activity_.frames())
                                          : frame_scores(activity_.frames(), pieces_, voices_, found.speakers);
      found.path = speaker_path(activity_, scores, n);
      const auto smallest = keeps_small ? std::nullopt : too_small(found.path, n);
      if (!smallest) return found;
      found.speakers = without(found.speakers, *smallest);
    }
  }

  const SpeechActivity& activity_;
  const std::vector<SpeakerPiece>& pieces_;
  const Vectors& voices_;
  const ClusterTree tree_;
};

/// Where two voices are audible at once, the speaker beside the path's: the nearest other one in time.
std::vector<std::size_t> second_speakers(const SpeechActivity& activity, const std::vector<std::size_t>& path) {
  struct Other {
    std::size_t speaker = kNone, frame = 0;
  };
  // The last frame before (or first behind) each frame whose speaker is another one than that frame's.
  const auto others = [&](auto begin, auto end) {
    std::vector<Other> found(path.size());
    Other last, before;  // the latest speaker, and the latest that is another one
    for (auto at = begin; at != end; ++at) {
      const std::size_t frame = *at, speaker = path[frame];
      if (speaker == kNone) continue;
      if (speaker != last.speaker) before = last;
      last = {speaker, frame};
      found[frame] = before;
    }
    return found;
  };
  std::vector<std::size_t> order(path.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto earlier = others(order.begin(), order.end());
  const auto later = others(order.rbegin(), order.rend());
  std::vector<std::size_t> second(path.size(), kNone);
  for (std::size_t frame = 0; frame < path.size(); ++frame) {
    if (path[frame] == kNone || activity.two[frame] <= kTwoVoices) continue;
    const Other &a = earlier[frame], &b = later[frame];
    const bool takes_later = b.speaker != kNone && (a.speaker == kNone || b.frame - frame < frame - a.frame);
    second[frame] = takes_later ? b.speaker : a.speaker;
  }
  return second;
}

/// Runs of frames of one speaker.
void add_turns(const std::vector<std::size_t>& path, std::size_t speaker, const std::vector<std::size_t>& second,
               double length, std::vector<SpeakerTurn>& turns) {
  for (std::size_t frame = 0; frame < path.size();) {
    std::size_t end = frame;
    while (end < path.size() && (path[end] == speaker || second[end] == speaker)) ++end;
    if (end > frame)
      turns.push_back(
          {.start = frame_start(frame), .end = std::min(length, frame_start(end)), .speaker = speaker_label(speaker)});
    frame = end + 1;
  }
}

/// Numbers the speakers in the order in which they speak first; those without a frame are gone.
Vectors number_by_first_turn(std::vector<std::size_t>& path, std::vector<std::size_t>& second, const Vectors& voices) {
  std::vector<std::size_t> numbers(voices.size(), kNone);
  Vectors ordered{.dimensions = voices.dimensions};
  const auto number = [&](std::size_t& speaker) {
    if (speaker == kNone) return;
    if (numbers[speaker] == kNone) {
      numbers[speaker] = ordered.size();
      ordered.add(voices[speaker]);
    }
    speaker = numbers[speaker];
  };
  for (std::size_t frame = 0; frame < path.size(); ++frame) {
    number(path[frame]);
    number(second[frame]);
  }
  return ordered;
}

/// A known speaker's name where the voice is like that one's.
void name_speakers(FoundSpeakers& found, std::span<const KnownVoice> known) {
  for (std::size_t k = 0; k < found.voices.size(); ++k) {
    const KnownVoice* best = nullptr;
    double cosine = kNameCosine;
    for (const KnownVoice& one : known) {
      const double to = dot(found.voices[k], one.voice);
      if (to < cosine) continue;
      cosine = to;
      best = &one;
    }
    if (!best) continue;
    for (SpeakerTurn& turn : found.turns)
      if (turn.speaker == found.speakers[k].speaker) turn.speaker = best->name;
    found.speakers[k].speaker = best->name;
    found.speakers[k].known_at = cosine;
  }
}

/// Adds how sure the speakers are: their speech, and how near the nearest other voice is.
void summarise(FoundSpeakers& found) {
  for (std::size_t k = 0; k < found.speakers.size(); ++k) {
    SpeakerSummary& summary = found.speakers[k];
    for (const SpeakerTurn& turn : found.turns)
      if (turn.speaker == summary.speaker) summary.seconds += turn.duration();
    for (std::size_t other = 0; other < found.voices.size(); ++other) {
      if (other == k || k >= found.voices.size() || found.speakers[other].speaker == summary.speaker) continue;
      const double cosine = dot(found.voices[k], found.voices[other]);
      if (!summary.nearest.empty() && cosine <= summary.cosine) continue;
      summary.cosine = cosine;
      summary.nearest = found.speakers[other].speaker;
    }
    summary.is_doubtful = summary.seconds < kDoubtfulSeconds || summary.cosine > kDoubtfulCosine;
  }
}

/// Two voices that got one name are one speaker: its turns that touch become one.
void join_namesakes(FoundSpeakers& found) {
  std::vector<SpeakerTurn> joined;
  sort_by_time(found.turns);
  for (const SpeakerTurn& turn : found.turns) {
    const auto before = std::ranges::find_if(
        joined, [&](const SpeakerTurn& one) { return one.speaker == turn.speaker && one.end >= turn.start; });
    if (before == joined.end())
      joined.push_back(turn);
    else
      before->end = std::max(before->end, turn.end);
  }
  found.turns = std::move(joined);
  std::vector<SpeakerSummary> speakers;
  Vectors voices{.dimensions = found.voices.dimensions};
  for (std::size_t k = 0; k < found.speakers.size(); ++k) {
    if (std::ranges::find(speakers, found.speakers[k].speaker, &SpeakerSummary::speaker) != speakers.end()) continue;
    speakers.push_back(found.speakers[k]);
    if (k < found.voices.size()) voices.add(found.voices[k]);
  }
  found.speakers = std::move(speakers);
  found.voices = std::move(voices);
}

}  // namespace

std::string speaker_label(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kLabel) + (digits.size() < 2 ? "0" + digits : digits);
}

bool is_speaker_label(std::string_view name) {
  return name.starts_with(kLabel) && is_all_digits(name.substr(kLabel.size()));
}

Vectors averaged_with_neighbours(const std::vector<SpeakerPiece>& pieces, const Vectors& voices) {
  Vectors averaged = voices;
  const auto overlap = [&](std::size_t a, std::size_t b) {
    return pieces[a].region == pieces[b].region && pieces[b].start < pieces[a].end;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto own = std::span(averaged.values).subspan(i * voices.dimensions, voices.dimensions);
    const auto add = [&](std::size_t other) {
      for (std::size_t d = 0; d < own.size(); ++d) own[d] += voices[other][d];
    };
    if (i > 0 && overlap(i - 1, i)) add(i - 1);
    if (i + 1 < pieces.size() && overlap(i, i + 1)) add(i + 1);
    normalise(own);
  }
  return averaged;
}

FoundSpeakers find_speakers(const SpeechActivity& activity, const std::vector<SpeakerPiece>& pieces,
                            const Vectors& voices, const SpeakerCount& count, std::span<const KnownVoice> known) {
  FoundSpeakers found;
  auto [speakers, path] = PathFinder(activity, pieces, voices).within(count);
  const std::size_t n = std::max<std::size_t>(1, speakers.size());
  auto second = second_speakers(activity, path);
  if (!pieces.empty()) found.voices = number_by_first_turn(path, second, speakers);
  const double length = frame_start(activity.frames());
  for (std::size_t k = 0; k < n; ++k) {
    add_turns(path, k, second, length, found.turns);
    if (found.turns.empty() || found.turns.back().speaker != speaker_label(k)) break;
    found.speakers.push_back({.speaker = speaker_label(k)});
  }
  sort_by_time(found.turns);
  name_speakers(found, known);
  summarise(found);
  if (!known.empty()) join_namesakes(found);
  return found;
}

}  // namespace tutti
