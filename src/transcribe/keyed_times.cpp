#include "transcribe/keyed_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "audio/mel/mel_kernel.h"
#include "base/order_statistics.h"
#include "base/strings.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr double kFrame = 0.01;  // seconds
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// A mark or a gap of a text.
struct Element {
  double units = 0;
  bool is_mark = false;
  bool is_open = false;  // a pause between words: as long as it likes
  std::size_t symbol = 0;
};

/// The marks of a text and the gaps between them, which begin and end with a mark.
std::vector<Element> elements_of(std::string_view text) {
  constexpr double kDash = 3, kCharacter = 3, kWord = 7;
  std::vector<Element> all;
  bool is_new_word = false;
  for (std::size_t symbol = 0; symbol < text.size(); ++symbol) {
    const char upper = text[symbol] >= 'a' && text[symbol] <= 'z' ? static_cast<char>(text[symbol] - 32) : text[symbol];
    const std::string_view pattern = morse_pattern(upper);
    is_new_word |= upper == ' ';
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const bool is_between = i == 0 && is_new_word;
      if (!all.empty()) all.push_back({i > 0 ? 1 : is_between ? kWord : kCharacter, false, is_between, symbol});
      all.push_back({pattern[i] == '-' ? kDash : 1, true, false, symbol});
      is_new_word = false;
    }
  }
  return all;
}

/// The mel row that has most of a pitch.
std::size_t row_of(double hertz, const std::vector<MelFilter>& filters) {
  constexpr double kBin = static_cast<double>(kModelRate.value) / kMelFft;
  const auto bin = static_cast<int>(std::lround(hertz / kBin));
  const auto weight = [bin](const MelFilter& filter) {
    const int at = bin - filter.first_bin;
    return at >= 0 && at < std::ssize(filter.weights) ? filter.weights[static_cast<std::size_t>(at)] : 0.0F;
  };
  return static_cast<std::size_t>(std::ranges::max_element(filters, {}, weight) - filters.begin());
}

/// Of each frame: 1 where the tone is down for certain, -1 where it is up.
std::vector<float> downness(std::span<const float> mel, std::size_t n_mels) {
  constexpr double kPitches[] = {600, 1000};  // where the tone filter puts the tone, wide and narrow
  constexpr float kUp = 0.2F, kDown = 0.95F, kLeastHalf = 0.05F;
  const std::size_t frames = mel.size() / n_mels;
  const auto filters = mel_filters(static_cast<int>(n_mels));
  std::vector<float> sum(frames);
  for (const double pitch : kPitches) {
    const auto row = mel.subspan(row_of(pitch, filters) * frames, frames);
    std::vector<float> sorted(row.begin(), row.end());
    const float up = quantile(sorted, kUp), down = quantile(sorted, kDown);
    const float middle = (up + down) / 2, half = std::max((down - up) / 2, kLeastHalf);
    for (std::size_t i = 0; i < frames; ++i) sum[i] += std::clamp((row[i] - middle) / half, -1.0F, 1.0F) / 2;
  }
  return sum;
}

/// Where each element ends, in frames, and how good that is.
struct Path {
  std::vector<std::size_t> ends{};
  std::size_t start = 0;
  float score = kNever;
};

/// How many frames an element may take, and what each length costs.
struct Lengths {
  std::size_t least = 1;
  std::vector<float> costs{};  // of least, least + 1, ...
};

Lengths lengths_of(const Element& element, double unit) {
  constexpr double kMark = 0.3, kGap = 0.4, kLong = 0.8;  // deviations of the logarithm
  const double expected = element.units * unit;
  const double most = element.is_mark ? 2 : element.units > 1 ? 3 : 2.2;
  Lengths lengths;
  lengths.least = static_cast<std::size_t>(std::max(1.0, std::round(expected * 0.4)));
  const auto last = std::max(lengths.least, static_cast<std::size_t>(std::lround(expected * most)));
  for (std::size_t length = lengths.least; length <= last; ++length) {
    const double away = std::log(static_cast<double>(length) / expected);
    const double deviation = element.is_mark ? kMark : element.units > 1 && away > 0 ? kLong : kGap;
    lengths.costs.push_back(static_cast<float>(away * away / (2 * deviation * deviation)));
  }
  return lengths;
}

/// The best way to lay the elements on the frames. `sums`: of downness before each frame.
Path best_path(const std::vector<Element>& elements, const std::vector<float>& sums, double unit) {
  const std::size_t width = sums.size();
  std::vector<float> before(width), here(width);
  for (std::size_t at = 0; at < width; ++at) before[at] = -sums[at];  // the key is up before the first mark
  std::vector<std::uint16_t> taken(elements.size() * width);
  for (std::size_t number = 0; number < elements.size(); ++number) {
    const Element& element = elements[number];
    const Lengths lengths = lengths_of(element, unit);
    const float sign = element.is_mark ? 1 : -1;
    const std::size_t longest = lengths.least + lengths.costs.size() - 1;
    std::uint16_t* const from = taken.data() + number * width;
    float open = kNever;  // the best start of a pause that is longer than all that
    std::size_t open_at = 0;
    for (std::size_t end = 0; end < width; ++end) {
      float best = kNever;
      std::size_t length = 0;
      for (std::size_t i = 0; i < lengths.costs.size() && lengths.least + i <= end; ++i) {
        const std::size_t start = end - lengths.least - i;
        const float score = before[start] - sign * sums[start] - lengths.costs[i];
        if (score > best) {
          best = score;
          length = lengths.least + i;
        }
      }
      if (element.is_open && end > longest) {
        const std::size_t start = end - longest - 1;
        if (const float score = before[start] + sums[start]; score > open) {
          open = score;
          open_at = start;
        }
        if (open - lengths.costs.back() > best) {
          best = open - lengths.costs.back();
          length = end - open_at;
        }
      }
      here[end] = best + sign * sums[end];
      from[end] = static_cast<std::uint16_t>(length);
    }
    before.swap(here);
  }
  Path path;
  std::size_t at = 0;
  for (std::size_t end = 0; end < width; ++end) {  // and up behind the last
    const float score = before[end] - (sums.back() - sums[end]);
    if (score > path.score) {
      path.score = score;
      at = end;
    }
  }
  if (path.score == kNever) return path;
  path.ends.resize(elements.size());
  for (std::size_t number = elements.size(); number-- > 0;) {
    path.ends[number] = at;
    at -= taken[number * width + at];
  }
  path.start = at;
  return path;
}

/// The path of the speed that fits best.
Path fitting_path(const std::vector<Element>& elements, const std::vector<float>& sums) {
  constexpr double kShares[] = {1.1, 0.92, 0.77, 0.64, 0.53, 0.44, 0.3, 0.2};
  double units = 0;
  for (const Element& element : elements) units += element.units;
  const double longest = static_cast<double>(sums.size()) / units;
  Path best;
  for (const double share : kShares) {
    auto path = best_path(elements, sums, longest * share);
    if (path.score > best.score) best = std::move(path);
  }
  if (best.ends.empty()) return best;
  // Once more by the speed that was found.
  double frames = 0, marked = 0;
  std::size_t start = best.start;
  for (std::size_t i = 0; i < elements.size(); start = best.ends[i++]) {
    if (elements[i].is_open || elements[i].units > 1) continue;
    frames += static_cast<double>(best.ends[i] - start);
    ++marked;
  }
  auto again = marked > 0 ? best_path(elements, sums, frames / marked) : Path();
  return again.score > best.score ? again : best;
}

}  // namespace

std::vector<KeyDown> times_of_keying(std::span<const float> mel, std::size_t n_mels, std::string_view text) {
  const auto elements = elements_of(text);
  std::vector<KeyDown> times(text.size());
  if (elements.empty() || mel.size() < 2 * n_mels) return times;
  std::vector<float> sums{0};
  for (const float down : downness(mel, n_mels)) sums.push_back(sums.back() + down);
  const Path path = fitting_path(elements, sums);
  const double all = static_cast<double>(sums.size() - 1) * kFrame;
  if (path.ends.empty()) {  // more marks than frames
    for (std::size_t i = 0; i < text.size(); ++i)
      times[i] = {all * static_cast<double>(i) / static_cast<double>(text.size()),
                  all * static_cast<double>(i + 1) / static_cast<double>(text.size())};
    return times;
  }
  std::vector<bool> has_marks(text.size());
  std::size_t start = path.start;
  for (std::size_t i = 0; i < elements.size(); start = path.ends[i++]) {
    if (!elements[i].is_mark) continue;
    KeyDown& symbol = times[elements[i].symbol];
    if (!has_marks[elements[i].symbol]) symbol.start = static_cast<double>(start) * kFrame;
    symbol.end = static_cast<double>(path.ends[i]) * kFrame;
    has_marks[elements[i].symbol] = true;
  }
  double end = static_cast<double>(path.ends.back()) * kFrame;  // of what follows and has marks, its start
  for (std::size_t i = text.size(); i-- > 0; end = times[i].start)
    if (!has_marks[i]) times[i] = {end, end};
  return times;
}

void set_times_of_keying(std::span<const KeyDown> times, std::int64_t frames, std::span<const std::string_view> tokens,
                         AlignAnswer& answer) {
  constexpr double kStep = 0.02;  // seconds
  const auto last = static_cast<std::int32_t>(frames / 2);
  const auto step = [last](double at) { return std::min(static_cast<std::int32_t>(std::lround(at / kStep)), last); };
  answer.starts.clear();
  answer.ends.clear();
  std::size_t at = 0;
  for (const std::string_view token : tokens) {
    const auto symbols = times.subspan(at, token.size());
    at += token.size();
    const std::int32_t start = symbols.empty() ? 0 : step(symbols.front().start);
    std::int32_t end = start;
    for (const KeyDown& symbol : symbols)
      if (symbol.end > symbol.start) end = step(symbol.end);
    answer.starts.push_back(std::max(start, answer.starts.empty() ? 0 : answer.starts.back()));
    answer.ends.push_back(std::max(end, answer.starts.back()));
  }
  answer.starts.push_back(answer.ends.empty() ? 0 : answer.ends.back());
}

std::string text_of(const MorseReading& reading) {
  return (reading.empty() ? "" : " ") + joined(reading, "", &ReadSymbol::text);  // as models write a window's text
}

AlignAnswer aligned_reading(const MorseReading& reading, std::int64_t frames,
                            std::span<const std::string_view> tokens) {
  const double first = reading.empty() ? 0 : reading.front().start;
  std::vector<KeyDown> times{{first, first}};
  std::vector<float> logprobs{0};
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const ReadSymbol& symbol = reading[i];
    const bool is_space = symbol.text == " ";  // where the next begins
    const double start = is_space && i + 1 < reading.size() ? reading[i + 1].start : symbol.start;
    for (std::size_t byte = 0; byte < symbol.text.size(); ++byte) {
      times.push_back({start, is_space ? start : symbol.end});
      logprobs.push_back(symbol.logprob);
    }
  }
  AlignAnswer answer;
  std::size_t at = 0;
  for (const std::string_view token : tokens) {
    float sum = 0;
    for (std::size_t i = at; i < at + token.size(); ++i) sum += logprobs[i];
    at += token.size();
    answer.probabilities.push_back(token.empty() ? 1 : std::exp(sum / static_cast<float>(token.size())));
  }
  set_times_of_keying(times, frames, tokens, answer);
  return answer;
}

}  // namespace tutti
