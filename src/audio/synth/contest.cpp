#include "audio/synth/contest.h"

#include <array>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string_view>

namespace tutti {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 8> kContests{"CQWW",      "CQWPX", "ARRLDX", "SWEEPSTAKES",
                                                    "FIELD_DAY", "NAQP",  "SPRINT", "IARU"};
constexpr std::array<std::string_view, 40> kPrefixes{"K",  "W",  "N",  "AA", "AB", "AD", "AE", "KA", "KB", "KC",
                                                     "KD", "WA", "WB", "NA", "VE", "VA", "VO", "G",  "M",  "GM",
                                                     "DL", "DJ", "DK", "F",  "I",  "IK", "EA", "JA", "JH", "JR",
                                                     "UA", "RA", "VK", "ZL", "PY", "LU", "OH", "SM", "OK", "SP"};
constexpr std::array<std::string_view, 64> kRegions{
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS",
    "KY", "LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY",
    "NC", "ND", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV",
    "WI", "WY", "DC", "BC", "AB", "SK", "MB", "ON", "QC", "NB", "NS", "PE", "NL", "YT", "NT", "NU"};
constexpr std::array<std::string_view, 32> kSections{
    "EMA", "WMA", "ENY", "NLI", "NNJ", "SNJ", "WNY", "NNY", "EPA", "WPA", "MDC", "NFL", "SFL", "WCF", "NTX", "STX",
    "WTX", "LAX", "ORG", "SCV", "SDG", "SJV", "PAC", "EWA", "WWA", "GTA", "MAR", "OH",  "IL",  "VA",  "CO",  "AZ"};
constexpr std::array<std::string_view, 32> kNames{"JOHN", "MIKE", "DAVE", "BOB",  "JIM",  "TOM",  "BILL", "STEVE",
                                                  "RICK", "PAUL", "MARK", "GARY", "FRED", "CARL", "DAN",  "ED",
                                                  "ART",  "BEN",  "HANS", "PETE", "RAY",  "RON",  "SAM",  "KEN",
                                                  "MARY", "PAT",  "SUE",  "ANN",  "LIZ",  "JANE", "KATE", "YUKI"};
constexpr std::array<std::string_view, 10> kShorts{"TU", "73", "QRZ?", "AGN", "?", "599", "R", "QSL", "TEST", "NR?"};
constexpr std::array<std::string_view, 64> kWords{
    "THE",    "AND",    "FOR",     "WITH",  "THIS",    "FROM",    "HAVE",   "WEATHER", "ANTENNA", "DIPOLE", "RIG",
    "WATT",   "HELLO",  "WORLD",   "GOOD",  "MORNING", "EVENING", "NAME",   "QTH",     "RST",     "SUNNY",  "COLD",
    "RAIN",   "WIND",   "HERE",    "COPY",  "THANKS",  "CALL",    "BACK",   "SOON",    "BEST",    "WISHES", "FROM",
    "TOWN",   "RIVER",  "STATION", "RADIO", "SIGNAL",  "NOISE",   "FADING", "STRONG",  "WEAK",    "PLEASE", "REPEAT",
    "NUMBER", "TIME",   "ZERO",    "SEVEN", "QUICK",   "BROWN",   "FOX",    "JUMPS",   "OVER",    "LAZY",   "DOG",
    "KEY",    "PADDLE", "TOWER",   "BEAM",  "BAND",    "METERS",  "OPEN",   "TODAY",   "AGAIN"};

/// The parts with spaces between them. A list, because the parts of a list are made from left to right, so that one
/// seed means one text with every compiler.
std::string spaced(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

template <std::size_t n>
std::string one_of(const std::array<std::string_view, n>& words, CounterRandom& random) {
  return std::string(words[static_cast<std::size_t>(random.below(n))]);
}

std::string number(const char* format, std::int64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, format, static_cast<int>(value));
  return text;
}

std::string letters(std::int64_t count, CounterRandom& random) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += static_cast<char>('A' + random.below(26));
  return text;
}

std::string call_sign(CounterRandom& random) {
  std::string call = one_of(kPrefixes, random);
  call += number("%d", random.below(10));
  call += letters(1 + random.below(3), random);
  if (random.chance(0.04)) call += "/P";
  return call;
}

std::string report(CounterRandom& random) {
  constexpr std::array<std::string_view, 4> kOthers{"579", "589", "569", "559"};
  const std::string rst = random.chance(0.9) ? "599" : one_of(kOthers, random);
  return random.chance(0.25) && rst == "599" ? "5NN" : rst;
}

std::string serial(CounterRandom& random) {
  const std::int64_t value = 1 + random.below(random.chance(0.7) ? 1000 : 9999);
  return number(value < 100 && random.chance(0.5) ? "%03d" : "%d", value);
}

/// The exchange that one station sends the other in this contest.
std::string report_exchange(std::string_view contest, CounterRandom& random) {
  constexpr std::array<std::string_view, 5> kPowers{"KW", "100", "1500", "QRP", "5"};
  constexpr std::array<std::string_view, 5> kPrecedences{"A", "B", "Q", "M", "U"};
  if (contest == "CQWW") return spaced({report(random), number("%d", 1 + random.below(40))});
  if (contest == "CQWPX") return spaced({report(random), serial(random)});
  if (contest == "ARRLDX")
    return spaced({report(random), random.chance(0.5) ? one_of(kPowers, random) : one_of(kRegions, random)});
  if (contest == "SWEEPSTAKES")
    return spaced(
        {serial(random), one_of(kPrecedences, random), number("%02d", random.below(100)), one_of(kSections, random)});
  if (contest == "FIELD_DAY") {
    std::string station = number("%d", 1 + random.below(10));
    station += static_cast<char>('A' + random.below(6));
    return spaced({station, one_of(kSections, random)});
  }
  if (contest == "NAQP") return spaced({one_of(kNames, random), one_of(kRegions, random)});
  if (contest == "SPRINT") return spaced({serial(random), one_of(kNames, random), one_of(kRegions, random)});
  return spaced({report(random), number("%d", 1 + random.below(90))});  // IARU
}

std::string calling(CounterRandom& random, const std::string& call) {
  switch (random.below(6)) {
    case 0: return "CQ TEST";
    case 1: return "CQ CQ";
    case 2: return "CQ TEST DE " + call;
    case 3: return "CQ CQ DE " + call + " " + call + " K";
    case 4: return "TEST " + call + " " + call + " TEST";
    default: return "CQ DE " + call + " K";
  }
}

std::string contact(std::string_view contest, CounterRandom& random) {
  const std::string here = call_sign(random), there = call_sign(random);
  std::string text = spaced({calling(random, here), there, report_exchange(contest, random)});
  if (random.chance(0.5)) text += " R " + report_exchange(contest, random);
  return text + (random.chance(0.5) ? " TU " + here : " TU");
}

/// Some words of a text in a row: a receiver that is tuned across a band catches no beginnings.
std::string part_of(const std::string& text, CounterRandom& random) {
  std::size_t from = 0;
  while (random.chance(0.4)) {
    const std::size_t space = text.find(' ', from);
    if (space == std::string::npos) break;
    from = space + 1;
  }
  std::size_t to = text.find(' ', from);
  while (to != std::string::npos && random.chance(0.7)) to = text.find(' ', to + 1);
  return text.substr(from, to == std::string::npos ? to : to - from);
}

}  // namespace

ContestText contest_text(CounterRandom& random) {
  const std::string contest = one_of(kContests, random);
  const double kind = random.uniform();
  if (kind < 0.10) return {contest, "short", one_of(kShorts, random)};
  if (kind < 0.20) return {contest, "cq", calling(random, call_sign(random))};
  if (kind < 0.30) return {contest, "partial", call_sign(random)};
  if (kind < 0.50) return {contest, "exchange", spaced({call_sign(random), report_exchange(contest, random)})};
  if (kind < 0.75) return {contest, "partial_qso", part_of(contact(contest, random), random)};
  if (kind < 0.90) return {contest, "qso", contact(contest, random)};
  return {contest, "multi_tx", spaced({call_sign(random).substr(0, 2) + "?", contact(contest, random)})};
}

ContestText plain_text(CounterRandom& random) {
  std::string text;
  const std::int64_t count = 1 + random.below(6);
  for (std::int64_t i = 0; i < count; ++i) {
    std::string word = one_of(kWords, random);
    const double kind = random.uniform();
    if (kind > 0.65) word = letters(1 + random.below(6), random);
    if (kind > 0.90) word = number("%d", random.below(100'000));
    text += (text.empty() ? "" : " ") + word;
  }
  return {"PLAIN", "words", text};
}

}  // namespace tutti
