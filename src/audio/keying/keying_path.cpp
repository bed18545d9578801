#include "audio/keying/keying_path.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "audio/keying/sent_text.h"

namespace tutti {
namespace {

constexpr float kNever = -1e9F;
constexpr float kTextScale = 0.6F;  // no operator writes quite what was counted; by 50 clips at -6 dB (2026-11-30)

/// All patterns as one tree of dots and dashes.
struct PatternTree {
  struct Node {
    std::array<std::uint8_t, 2> child{};  // behind a dot, behind a dash; 0: none
    std::uint8_t symbol = 0;              // that ends here; 0: none
  };
  std::vector<Node> nodes{1};

  PatternTree() {
    for (std::size_t symbol = 1; symbol < kSentSymbols; ++symbol) {
      std::size_t at = 0;
      for (const char c : sent_symbols()[symbol].pattern) {
        if (nodes[at].child[c == '-'] == 0) {
          nodes[at].child[c == '-'] = static_cast<std::uint8_t>(nodes.size());
          nodes.emplace_back();
        }
        at = nodes[at].child[c == '-'];
      }
      nodes[at].symbol = static_cast<std::uint8_t>(symbol);
    }
  }

  static const PatternTree& get() {
    static const PatternTree made;
    return made;
  }
};

/// How many frames a mark or gap takes, and the logarithm of how likely each number is.
struct Lengths {
  std::size_t least = 1;
  std::vector<float> logprobs{};  // of least, least + 1, ...

  /// All but `per_unit`, frames, in units. `deviation`: of the length about `mean`.
  Lengths(double per_unit, double mean, double deviation, double from, double to) {
    least = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(from * per_unit)));
    const auto last = std::max(least, static_cast<std::size_t>(std::lround(to * per_unit)));
    double sum = 0;
    for (std::size_t length = least; length <= last; ++length) {
      const double away = (static_cast<double>(length) / per_unit - mean) / deviation;
      logprobs.push_back(static_cast<float>(-away * away / 2));
      sum += std::exp(-away * away / 2);
    }
    for (float& logprob : logprobs) logprob -= static_cast<float>(std::log(sum));
  }

  std::size_t end() const { return least + logprobs.size(); }
  float logprob(std::size_t length) const { return logprobs[length - least]; }
};

/// Those of a hand at a key.
struct KeyLengths {
  static constexpr double kMark = 0.12, kGap = 0.15, kSymbolGap = 0.4, kWordGap = 1;  // deviations in units
  static constexpr double kBorder = 4.8;  // units, between the gaps of symbols and of words

  KeyLengths(double per_unit, double spacing)
      : dot(per_unit, 1, kMark, 0.6, 1.5),
        dash(per_unit, 3, kMark * 1.3, 2.3, 4),
        gap(per_unit, 1, kGap, 0.5, 1.6),
        symbol_gap(per_unit, 3 * spacing, kSymbolGap * spacing, 2, kBorder * spacing),
        word_gap(per_unit, 7 * spacing, kWordGap * spacing, kBorder * spacing - 0.2, 11 * spacing) {}

  Lengths dot, dash, gap;
  Lengths symbol_gap, word_gap;
};

/// How much likelier a mark is than noise: the mean of its samples is normal about its level, which is normal about the
/// one that is expected; both integrate to a normal distribution.
float mark_evidence(const KeyedFrames& frames, std::size_t from, std::size_t to) {
  constexpr float kLeast = 1e-9F;
  const float level = std::max((frames.levels[from] + frames.levels[to]) / 2, kLeast);
  const float samples = static_cast<float>(to - from) * frames.samples;
  const float share = (frames.sums[to] - frames.sums[from]) / (samples * level);
  const float noise = frames.noise / (samples * level * level);
  const float all = noise + frames.spread * frames.spread;
  return -std::log(all / noise) / 2 - (share - 1) * (share - 1) / (2 * all) + share * share / (2 * noise);
}

/// A text so far.
struct Token {
  float score = kNever;
  SentText::Context context = 0;
  std::int32_t history = -1;
  std::uint32_t start = 0;  // frame of the mark that ends here
};

/// The best texts of a state, each of another context.
class Cell {
 public:
  void take(const Token& token, std::size_t most) {
    std::size_t worst = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (tokens_[i].context == token.context) {
        if (token.score > tokens_[i].score) tokens_[i] = token;
        return;
      }
      if (tokens_[i].score < tokens_[worst].score) worst = i;
    }
    if (size_ < most)
      tokens_[size_++] = token;
    else if (token.score > tokens_[worst].score)
      tokens_[worst] = token;
  }
  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  const Token* begin() const { return tokens_.data(); }
  const Token* end() const { return tokens_.data() + size_; }

  static constexpr std::size_t kMost = 8;  // with 4, 10.3 % wrong at -6 dB and not 9.7; 16 gain nothing

 private:
  std::array<Token, kMost> tokens_;
  std::size_t size_ = 0;
};

/// A mark, or where `symbol` is set, a symbol that ends with the mark before.
struct History {
  std::int32_t before = -1;
  std::uint32_t from = 0, to = 0;
  std::int32_t symbol = -1;
};

class PathSearch {
 public:
  PathSearch(const KeyedFrames& frames, const PathOptions& options)
      : frames_(frames),
        options_(options),
        lengths_(frames.per_unit, options.spacing),
        most_(options.has_context ? Cell::kMost : 1),
        width_(frames.sums.size()),
        ring_(std::bit_ceil(lengths_.word_gap.end() + 1)),
        up_(ring_ * tree_.nodes.size()),
        down_(ring_ * tree_.nodes.size()),
        waiting_(ring_) {}

  KeyingPath run() {
    Cell idle;  // texts behind which nothing was sent for long, and the empty one
    idle.take({.score = 0}, most_);
    for (std::size_t at = 0; at < width_; ++at) {
      for (const Token& token : waiting_[at & (ring_ - 1)]) idle.take(token, most_);
      waiting_[at & (ring_ - 1)].clear();
      for (const Token& token : idle) cell(up_, at, 0).take(token, most_);
      for (std::size_t node = 1; node < tree_.nodes.size(); ++node)
        if (!cell(down_, at, node).empty()) end_marks(at, node);
      // All that end a symbol here go on through the same gaps, so that only the best of them count.
      for (const Token& token : ended_symbols_) pause(token, at, 0, lengths_.symbol_gap);
      for (const Token& token : ended_words_) begin_word(token, at);
      ended_symbols_.clear();
      ended_words_.clear();
      set_evidence(at);
      for (std::size_t node = 0; node < tree_.nodes.size(); ++node)
        if (!cell(up_, at, node).empty()) begin_marks(at, node);
    }
    return path();
  }

 private:
  static constexpr float kBeam = 18;  // nats below the best that a text may be; 16 gave what 25 did, 12 much less

  Cell& cell(std::vector<Cell>& of, std::size_t at, std::size_t node) {
    return of[(at & (ring_ - 1)) * tree_.nodes.size() + node];
  }

  bool is_too_poor(const Token& token) const { return token.score < top_ - kBeam; }

  std::int32_t noted(const History& entry) {
    history_.push_back(entry);
    return static_cast<std::int32_t>(history_.size()) - 1;
  }

  const SentText::Logprobs& after(SentText::Context context) {
    if (context == 0) return at_start_;
    const auto [found, is_new] = known_.try_emplace(context);
    if (is_new) found->second = text_.after(context);
    return found->second;
  }

  SentText::Context next(SentText::Context context, std::size_t symbol) const {
    return options_.has_context ? SentText::next(context, symbol) : 0;
  }

  /// Sends a text on through gaps of all lengths.
  void pause(Token token, std::size_t at, std::size_t node, const Lengths& gap) {
    const float score = token.score;
    for (std::size_t length = gap.least; length < gap.end() && at + length < width_; ++length) {
      token.score = score + gap.logprob(length);
      if (is_too_poor(token)) continue;
      cell(up_, at + length, node).take(token, most_);
    }
  }

  void end_marks(std::size_t at, std::size_t node) {
    Cell& marks = cell(down_, at, node);
    for (Token token : marks) {
      if (is_too_poor(token)) continue;
      top_ = std::max(top_, token.score);
      token.history = noted({token.history, token.start, static_cast<std::uint32_t>(at), -1});
      const auto& state = tree_.nodes[node];
      if (state.child[0] != 0 || state.child[1] != 0) pause(token, at, node, lengths_.gap);
      if (state.symbol != 0) end_symbol(token, state.symbol);
    }
    marks.clear();
  }

  void end_symbol(Token token, std::size_t symbol) {
    token.score += kTextScale * after(token.context)[symbol];
    token.context = next(token.context, symbol);
    token.history = noted({token.history, 0, 0, static_cast<std::int32_t>(symbol)});
    ended_symbols_.take(token, most_);
    token.score += kTextScale * after(token.context)[0];
    token.context = next(token.context, 0);
    if (token.score > best_.score) best_ = token;
    ended_words_.take(token, most_);
  }

  void begin_word(Token token, std::size_t at) {
    constexpr float kLongPause = -3;  // logarithm of how likely a gap is that is longer than one between words
    token.history = noted({token.history, 0, 0, 0});
    pause(token, at, 0, lengths_.word_gap);
    token.score += lengths_.word_gap.logprobs.back() + kLongPause;
    if (at + lengths_.word_gap.end() < width_)
      waiting_[(at + lengths_.word_gap.end()) & (ring_ - 1)].take(token, most_);
  }

  /// What a mark of each length comes to that begins here.
  void set_evidence(std::size_t at) {
    const auto set = [&](const Lengths& mark, std::vector<float>& evidence) {
      evidence.clear();
      for (std::size_t length = mark.least; length < mark.end() && at + length < width_; ++length)
        evidence.push_back(mark.logprob(length) + mark_evidence(frames_, at, at + length));
    };
    set(lengths_.dot, dots_);
    set(lengths_.dash, dashes_);
  }

  void begin_marks(std::size_t at, std::size_t node) {
    Cell& gaps = cell(up_, at, node);
    const auto& state = tree_.nodes[node];
    for (Token token : gaps) {
      if (is_too_poor(token)) continue;
      const float score = token.score;
      token.start = static_cast<std::uint32_t>(at);
      for (const bool is_dash : {false, true}) {
        if (state.child[is_dash] == 0) continue;
        const auto& evidence = is_dash ? dashes_ : dots_;
        const std::size_t first = at + (is_dash ? lengths_.dash : lengths_.dot).least;
        for (std::size_t i = 0; i < evidence.size(); ++i) {
          token.score = score + evidence[i];
          if (!is_too_poor(token)) cell(down_, first + i, state.child[is_dash]).take(token, most_);
        }
      }
    }
    gaps.clear();
  }

  /// How well a pattern fits to the frames of a symbol, marks and gaps filling them.
  float fit(std::string_view pattern, std::size_t from, std::size_t to) const {
    std::vector<float> here(to - from + 1, kNever), next(here.size());
    here[0] = 0;
    for (std::size_t i = 0; i < 2 * pattern.size() - 1; ++i) {
      const bool is_mark = i % 2 == 0;
      const Lengths& lengths = !is_mark ? lengths_.gap : pattern[i / 2] == '-' ? lengths_.dash : lengths_.dot;
      std::ranges::fill(next, kNever);
      for (std::size_t at = 0; at < here.size(); ++at) {
        if (here[at] == kNever) continue;
        for (std::size_t length = lengths.least; length < lengths.end() && at + length < here.size(); ++length) {
          const float evidence = is_mark ? mark_evidence(frames_, from + at, from + at + length) : 0;
          next[at + length] = std::max(next[at + length], here[at] + lengths.logprob(length) + evidence);
        }
      }
      here.swap(next);
    }
    return here.back();
  }

  /// Sets how likely each symbol is among all that its frames could be.
  void set_logprobs(std::vector<PathSymbol>& symbols) {
    SentText::Context context = 0;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      PathSymbol& here = symbols[i];
      if (here.symbol != 0) {
        const auto likely = after(context);
        float chosen = kNever, top = kNever;
        std::array<float, kSentSymbols> scores{};
        for (std::size_t symbol = 1; symbol < kSentSymbols; ++symbol) {
          scores[symbol] = kTextScale * likely[symbol] + fit(sent_symbols()[symbol].pattern, here.from, here.to);
          if (i + 1 < symbols.size())
            scores[symbol] += kTextScale * after(next(context, symbol))[symbols[i + 1].symbol];
          top = std::max(top, scores[symbol]);
          if (symbol == here.symbol) chosen = scores[symbol];
        }
        float sum = 0;
        for (std::size_t symbol = 1; symbol < kSentSymbols; ++symbol) sum += std::exp(scores[symbol] - top);
        here.logprob = chosen - top - std::log(sum);
      }
      context = next(context, here.symbol);
    }
  }

  KeyingPath path() {
    KeyingPath path{.score = best_.score};
    std::int32_t symbol = -1;
    for (std::int32_t i = best_.history; i >= 0; i = history_[static_cast<std::size_t>(i)].before) {
      const History& entry = history_[static_cast<std::size_t>(i)];
      if (entry.symbol >= 0) {
        symbol = entry.symbol;
        if (symbol == 0) path.symbols.push_back({});
        continue;
      }
      if (symbol > 0) path.symbols.push_back({static_cast<std::size_t>(symbol), entry.from, entry.to, 0});
      path.symbols.back().from = entry.from;
      symbol = -1;
      path.marks.push_back({entry.from, entry.to});
    }
    std::ranges::reverse(path.marks);
    std::ranges::reverse(path.symbols);
    for (std::size_t i = 1; i < path.symbols.size(); ++i)
      if (path.symbols[i].symbol == 0) path.symbols[i].from = path.symbols[i].to = path.symbols[i - 1].to;
    if (options_.has_logprobs) set_logprobs(path.symbols);
    return path;
  }

  const KeyedFrames& frames_;
  const PathOptions options_;
  const PatternTree& tree_ = PatternTree::get();
  const SentText& text_ = SentText::get();
  const KeyLengths lengths_;
  const std::size_t most_, width_;
  const std::size_t ring_;                // frames that are looked ahead; a power of two
  std::vector<Cell> up_, down_;           // texts of which a gap or a mark ends at a frame, by frame and node
  Cell ended_symbols_{}, ended_words_{};  // of one frame
  std::vector<Cell> waiting_;             // by the frame at which their pause is longer than one between words
  std::vector<float> dots_{}, dashes_{};  // what marks that begin at a frame come to, by length
  std::vector<History> history_{};
  const SentText::Logprobs at_start_ = text_.after(0);
  std::unordered_map<SentText::Context, SentText::Logprobs> known_{};
  Token best_{};
  float top_ = 0;
};

}  // namespace

KeyingPath likeliest_path(const KeyedFrames& frames, const PathOptions& options) {
  return PathSearch(frames, options).run();
}

}  // namespace tutti
