#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

#include "audio/synth/contest.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 24> kCallers{"HANS", "JIM",  "BOB",   "OLE",  "JEAN", "MARCO", "IVAN", "TOM",
                                                    "AKIO", "BILL", "MIKE",  "ANNA", "PETE", "SVEN",  "JOSE", "DAVE",
                                                    "KURT", "LARS", "JANOS", "RON",  "GEO",  "AL",    "ERIC", "TIM"};
constexpr std::array<std::string_view, 24> kTowns{
    "BERLIN", "LONDON", "PARIS", "OSLO",  "ROMA", "BOSTON", "DALLAS", "MADRID", "WIEN",  "PRAHA",  "KYOTO", "SEATTLE",
    "LYON",   "HULL",   "GENT",  "TURKU", "BERN", "LODZ",   "OMAHA",  "YORK",   "PERTH", "MILANO", "CORK",  "TAMPA"};
constexpr std::array<std::string_view, 16> kRigs{"K3",  "IC7300", "FT817", "TS590", "KX2",    "FT991", "IC706", "HB",
                                                 "QCX", "FTDX10", "K2",    "TS850", "IC7610", "KX3",   "FT101", "HW8"};
constexpr std::array<std::string_view, 12> kAntennas{"DIPOLE", "VERT", "YAGI",  "LW",   "GP",    "EFHW",
                                                     "LOOP",   "BEAM", "DELTA", "G5RV", "INV V", "2 EL"};
constexpr std::array<std::string_view, 10> kSkies{"SUNNY", "CLDY",  "RAIN", "SNOW", "WINDY",
                                                  "FINE",  "FOGGY", "COLD", "HOT",  "CLEAR"};
constexpr std::array<std::string_view, 14> kRequests{"AGN",     "PSE AGN", "UR CALL?", "NAME?",  "QTH?",
                                                     "QRS PSE", "QSL?",    "NR?",      "QRL?",   "QRZ?",
                                                     "PSE K",   "?",       "AS",       "QSB QSB"};
constexpr std::array<std::string_view, 12> kPleasantries{"TNX FER CALL",   "GM OM",     "GE DR OM", "GA",
                                                         "TKS FER QSO",    "FB OM",     "VY FB",    "SOLID CPY",
                                                         "NICE TO MEET U", "HPE CUAGN", "BEST DX",  "MNI TNX"};
constexpr std::array<std::string_view, 28> kHomes{"K",  "W",  "N",  "AA", "KB", "WA", "VE", "G",  "M",  "GM",
                                                  "DL", "DJ", "DK", "F",  "I",  "IK", "EA", "JA", "UA", "VK",
                                                  "ZL", "PY", "OH", "SM", "OK", "SP", "OZ", "HB9"};

template <std::size_t n>
std::string one_of(const std::array<std::string_view, n>& words, CounterRandom& random) {
  return std::string(words[static_cast<std::size_t>(random.below(n))]);
}

/// The parts with spaces between them, made from left to right; those that are empty are left out.
std::string spaced(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

std::string times(std::int64_t count, const std::string& part) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + part;
  return text;
}

/// What matters is sent twice more often than not, and sometimes three times.
std::string repeated(const std::string& part, CounterRandom& random) {
  const double draw = random.uniform();
  return times(draw < 0.3 ? 1 : draw < 0.85 ? 2 : 3, part);
}

/// With T for 0, N for 9, and sometimes A, U and E for 1, 2 and 5.
std::string cut(std::string figures, bool all, CounterRandom& random) {
  for (char& figure : figures) {
    if (figure == '0') figure = 'T';
    if (figure == '9') figure = 'N';
    if (all && figure == '1') figure = 'A';
    if (all && figure == '2') figure = 'U';
    if (all && figure == '5' && random.chance(0.5)) figure = 'E';
  }
  return figures;
}

std::string figures(CounterRandom& random, std::int64_t below) {
  char text[16];
  std::snprintf(text, sizeof text, random.chance(0.5) ? "%03d" : "%d", static_cast<int>(1 + random.below(below)));
  return random.chance(0.35) ? cut(text, random.chance(0.3), random) : text;
}

std::string signal_report(CounterRandom& random) {
  constexpr std::array<std::string_view, 9> kReports{"599", "599", "599", "579", "559", "589", "339", "449", "569"};
  const std::string report = one_of(kReports, random);
  return random.chance(0.4) ? cut(report, false, random) : report;
}

std::string calls_of(const std::string& there, const std::string& here, CounterRandom& random) {
  return spaced({repeated(there, random), "DE", repeated(here, random)});
}

std::string over(CounterRandom& random) {
  constexpr std::array<std::string_view, 6> kOvers{"K", "KN", "^KN", "^AR K", "^AR", "BK"};
  return one_of(kOvers, random);
}

std::string between(CounterRandom& random) {
  constexpr std::array<std::string_view, 4> kBetween{"=", "=", "", "."};
  return one_of(kBetween, random);
}

std::string cq(const std::string& here, CounterRandom& random) {
  constexpr std::array<std::string_view, 6> kTo{"", "", "DX", "TEST", "SOTA", "POTA"};
  const std::string to = one_of(kTo, random);
  return spaced({times(1 + random.below(4), "CQ"), to, "DE", times(1 + random.below(3), here), over(random)});
}

std::string report(const std::string& there, const std::string& here, CounterRandom& random) {
  return spaced({calls_of(there, here, random), between(random), one_of(kPleasantries, random), between(random),
                 random.chance(0.5) ? "UR RST" : "UR", repeated(signal_report(random), random), between(random),
                 random.chance(0.5) ? "NAME" : "OP", repeated(one_of(kCallers, random), random), between(random), "QTH",
                 repeated(one_of(kTowns, random), random), between(random), random.chance(0.5) ? "HW?" : "HW CPY?",
                 calls_of(there, here, random), over(random)});
}

std::string station(const std::string& there, const std::string& here, CounterRandom& random) {
  const std::string watts = std::to_string(random.chance(0.5) ? 5 : 10 * (1 + random.below(40)));
  return spaced({random.chance(0.5) ? "R R" : "R", "FB", one_of(kCallers, random), between(random), "RIG",
                 one_of(kRigs, random), random.chance(0.5) ? "PWR" : "RUNNING",
                 watts + (random.chance(0.5) ? "W" : " W"), between(random), "ANT", one_of(kAntennas, random),
                 between(random), "WX", repeated(one_of(kSkies, random), random), "TEMP",
                 std::to_string(random.below(40)) + "C", between(random), calls_of(there, here, random), over(random)});
}

std::string bye(const std::string& there, const std::string& here, CounterRandom& random) {
  constexpr std::array<std::string_view, 6> kLast{"E E", "EE", "TU", "GL", "73", "CL"};
  return spaced({one_of(kPleasantries, random), between(random), random.chance(0.7) ? times(2, "73") : "73 GL",
                 random.chance(0.6) ? "^SK" : "SK", calls_of(there, here, random), one_of(kLast, random)});
}

std::string exchange(const std::string& there, CounterRandom& random) {
  const std::string number = figures(random, 2000);
  return spaced({repeated(there, random), repeated(signal_report(random), random), random.chance(0.4) ? "NR" : "",
                 repeated(number, random), random.chance(0.3) ? "BK" : ""});
}

/// From a word anywhere on: a listener comes in at any time.
std::string from_any_word(std::string text, CounterRandom& random) {
  if (random.chance(0.5)) return text;
  const auto words = std::ranges::count(text, ' ') + 1;
  for (std::int64_t left_out = random.below(words); left_out > 0; --left_out) text.erase(0, text.find(' ') + 1);
  return text;
}

/// A prefix, a figure and one to three characters; some are portable.
std::string call_sign(CounterRandom& random) {
  std::string call = one_of(kHomes, random);
  if (call.back() > '9' || call.back() < '0') call += static_cast<char>('0' + random.below(10));
  for (std::int64_t i = 1 + random.below(3); i > 0; --i) call += static_cast<char>('A' + random.below(26));
  const double where = random.uniform();
  return call + (where < 0.04 ? "/P" : where < 0.06 ? "/QRP" : "");
}

}  // namespace

ContestText contact_text(CounterRandom& random) {
  const std::string here = call_sign(random), there = call_sign(random);
  const double kind = random.uniform();
  const auto made = [&](const char* name, std::string text) {
    return ContestText{"CONTACT", name, from_any_word(std::move(text), random)};
  };
  if (kind < 0.15) return made("cq", cq(here, random));
  if (kind < 0.27) return made("answer", spaced({calls_of(there, here, random), over(random)}));
  if (kind < 0.45) return made("exchange", exchange(there, random));
  if (kind < 0.67) return made("report", report(there, here, random));
  if (kind < 0.80) return made("station", station(there, here, random));
  if (kind < 0.90) return made("bye", bye(there, here, random));
  if (kind < 0.95) return made("beacon", spaced({times(1 + random.below(4), "VVV"), "DE", times(2, here)}));
  return made("request", repeated(one_of(kRequests, random), random));
}

}  // namespace tutti
