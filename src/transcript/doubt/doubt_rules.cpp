#include "transcript/doubt/doubt_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/code_points.h"
#include "text/utf8.h"
#include "transcript/doubt/scripts.h"
#include "transcript/fallback.h"

namespace tutti {
namespace {

// Alphabetic characters and digits in lower case, everything else left out.
constexpr std::array<std::u32string_view, 26> kPhantoms{
    U"you",
    U"bye",
    U"byebye",
    U"thankyou",
    U"thanks",
    U"thankyousomuch",
    U"thankyouverymuch",
    U"thanksforwatching",
    U"thankyouforwatching",
    U"thankyouforwatchingpleasesubscribe",
    U"pleasesubscribe",
    U"pleasesubscribetomychannel",
    U"subtitlesbytheamaraorgcommunity",
    U"transcriptionbycastingwords",
    U"untertitelderamaraorgcommunity",
    U"untertitelungdeszdffürfunk2017",
    U"vielendankfürszuschauen",
    U"soustitresréalisésparalacommunautédamaraorg",
    U"mercidavoirregardécettevidéo",
    U"subtítulosporlacomunidaddeamaraorg",
    U"sottotitolicreatidallacomunitàamaraorg",
    U"legendaspelacomunidadeamaraorg",
    U"продолжениеследует",
    U"субтитрысделалdimatorzok",
    U"ご視聴ありがとうございました",
    U"请不吝点赞订阅转发打赏支持明镜与点点栏目",
};

}  // namespace

bool is_phantom(std::string_view text) {
  std::u32string letters;
  for (const char32_t value : lower(to_code_points(text)))
    if (is_letter(value) || is_number(value)) letters += value;
  return std::find(kPhantoms.begin(), kPhantoms.end(), letters) != kPhantoms.end();
}

namespace {

constexpr double kLeastText = 1.0;  // seconds that the text takes at least; shorter ones are too coarsely timed

}  // namespace

LetterCount letters_of(const std::string& text) {
  LetterCount count;
  for (const char32_t value : to_code_points(text)) {
    if (!is_letter(value) && !is_number(value)) continue;
    ++count.letters;
    count.fastest += 1 / fastest_letters(script_of(value));
  }
  return count;
}

std::vector<Doubt> find_fast(const ReviewedTranscript& it) {
  std::vector<Doubt> doubts;
  for (const Segment& segment : it.transcript.segments) {
    const LetterCount amount = letters_of(segment.text);
    const double slack = it.limits.time_slack;
    const double length = std::max(0.0, segment.end - segment.start);
    double speech = length;
    if (it.speech) speech = std::min(length, speech_within(*it.speech, segment.start - slack, segment.end + slack));
    if (speech <= 0 && length > 0) continue;  // no speech was detected at all: that is another doubt
    const double allowed = speech + slack;
    if (amount.fastest < kLeastText || amount.fastest <= allowed) continue;
    const bool by_ear = speech < 0.9 * length;
    doubts.push_back({.kind = DoubtKind::fast,
                      .start = segment.start,
                      .end = segment.end,
                      .severity = std::min(0.95, 0.5 + 0.6 * (1 - allowed / amount.fastest)),
                      .reason = std::to_string(amount.letters) + " letters in " + tenths(speech) + " s" +
                                (by_ear ? " of speech" : "") + ": the fastest speakers need " + tenths(amount.fastest) +
                                " s",
                      .excerpt = shortened(segment.text)});
  }
  return doubts;
}

namespace {

/// Segments [first, last) of one window: the model's numbers are a window's, and every segment of it repeats them.
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
};

bool same_window(const Segment& a, const Segment& b) {
  return a.seek == b.seek && a.temperature == b.temperature && a.avg_logprob == b.avg_logprob;
}

std::vector<Window> windows_of(const std::vector<Segment>& segments) {
  std::vector<Window> windows;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (windows.empty() || !same_window(segments[windows.back().first], segments[i])) windows.push_back({i, i});
    windows.back().last = i + 1;
  }
  return windows;
}

/// How well what is left of a window's text compresses. Its own number is of all that was decoded, loops that the
/// long-form rules have cleared since included.
double compression_of(const std::vector<Segment>& segments, const Window& window) {
  std::string text;
  for (std::size_t i = window.first; i < window.last; ++i) text += segments[i].text;
  return compression_ratio(text);
}

/// What a window's numbers say against it: kinds, severities and reasons.
std::vector<Doubt> doubts_of(const Segment& s, double compression, const DoubtLimits& limits) {
  std::vector<Doubt> doubts;
  if (s.avg_logprob < limits.least_logprob)
    doubts.push_back({.kind = DoubtKind::improbable,
                      .severity = std::min(0.95, 0.55 + 0.5 * (limits.least_logprob - s.avg_logprob)),
                      .reason = "average log-probability " + tenths(s.avg_logprob) + " (below " +
                                tenths(limits.least_logprob) + ")"});
  if (compression > limits.most_compression)
    doubts.push_back({.kind = DoubtKind::loop,
                      .severity = std::min(0.9, 0.3 + 0.6 * (compression - limits.most_compression)),
                      .reason = "repetitive: the text compresses " + tenths(compression) + " times (above " +
                                tenths(limits.most_compression) + ")"});
  if (s.temperature >= limits.fallback_from)
    doubts.push_back({.kind = DoubtKind::fallback,
                      .severity = std::min(0.75, 0.2 + 0.5 * s.temperature),
                      .reason = "accepted only at temperature " + tenths(s.temperature)});
  return doubts;
}

}  // namespace

std::vector<Doubt> find_low_numbers(const ReviewedTranscript& it) {
  const auto& segments = it.transcript.segments;
  std::vector<Doubt> doubts;
  for (const Window& window : windows_of(segments)) {
    const auto begin = segments.begin() + static_cast<std::ptrdiff_t>(window.first);
    const auto end = segments.begin() + static_cast<std::ptrdiff_t>(window.last);
    if (std::none_of(begin, end, has_words)) continue;
    for (Doubt& doubt : doubts_of(*begin, compression_of(segments, window), it.limits)) {
      doubt.start = begin->start;
      doubt.end = (end - 1)->end;
      doubt.excerpt = excerpt_of(segments, window.first, window.last);
      doubts.push_back(std::move(doubt));
    }
  }
  return doubts;
}

namespace {

struct WordList {
  std::string_view language;
  std::u32string_view words;  // separated by single spaces, with one at both ends
};

constexpr std::array kLists{
    WordList{"en",
             U" the of and to in is was that it for on with as his he be at by i you this had not are but from or "
             U"have an they which one were her all she there would their we him been has when who will more no if "
             U"out so what said its about into than them can only other do my your our these "},
    WordList{"de",
             U" der die das und ist nicht ich ein eine einen einem einer zu den dem des mit auf für sich auch es "
             U"er sie wir ihr von im an als wie war aber oder wenn noch nur bei aus nach haben hat hatte wird "
             U"werden sind kann dass so man was mein sein über durch um vor zum zur wurde wurden diese dieser diesem "
             U"diesen hinter waren doch ja mir mich dir man ins "},
    WordList{"fr",
             U" le la les de des du un une et est que qui dans pour pas sur il elle nous vous ils je ne se ce "
             U"cette au aux avec son sa ses par plus mais ou où si leur tout été était sont comme être fait ont "
             U"on lui mon ma même aussi bien sans il avait sous puis donc cela ça fut entre très "},
    WordList{"es",
             U" el la los las de del que y en un una es no por con para se lo al como más pero sus le ya o este "
             U"sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante "
             U"era ser son fue su mi yo ha tiene tienen poca muy está están "},
    WordList{"it",
             U" il lo la i gli le di del della dei delle che e un una è non per con in si da al alla dal ma come "
             U"anche più o se nel nella sono questo questa ha ho era suo sua loro mi ci quando dove chi essere "
             U"tutto cosa molto alcune alcuni alla sempre poi ai degli dai dalle sulla "},
    WordList{"pt",
             U" o a os as de do da dos das que e em um uma é não por com para se no na nos nas ao mais mas como "
             U"foi ele ela seu sua ou quando muito já também só pelo pela até isso entre era depois sem mesmo aos "
             U"seus quem me esse eles você nenhum nenhuma à às num numa pelos "},
    WordList{"nl",
             U" de het een en van ik te dat die in je is niet zijn er op aan met voor hij was als maar om dan zou "
             U"of wat mijn men dit zo door over ze bij ook tot uit naar heeft hebben had deze kan geen nog wel "
             U"wordt zij "},
    WordList{"sv",
             U" och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig "
             U"du henne då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut när "},
    WordList{"pl",
             U" nie to się w na i z jest że do co jak ale mnie o tak za a po go ty ten był dla ma tym od już mi "
             U"są być gdy tylko czy przez jego jej które "},
};

}  // namespace

std::vector<SmallWordCount> count_small_words(const std::vector<std::u32string_view>& words) {
  std::vector<SmallWordCount> counts;
  for (const WordList& list : kLists) {
    std::size_t hits = 0;
    for (const std::u32string_view word : words) {
      const std::u32string wanted = U" " + std::u32string(word) + U" ";
      hits += list.words.find(wanted) != std::u32string_view::npos ? 1 : 0;
    }
    counts.push_back({list.language, hits});
  }
  return counts;
}

}  // namespace tutti
