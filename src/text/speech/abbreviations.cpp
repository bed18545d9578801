#include "text/speech/abbreviations.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace tutti {
namespace {

struct ShortForm {
  std::string_view written;
  std::string_view words;
};

/// Short with or without a point.
constexpr auto kAlways = std::to_array<ShortForm>({
    {"mr", "mister"},
    {"mrs", "missus"},
    {"ms", "miz"},
    {"messrs", "messieurs"},
    {"prof", "professor"},
    {"rev", "reverend"},
    {"capt", "captain"},
    {"col", "colonel"},
    {"lieut", "lieutenant"},
    {"lt", "lieutenant"},
    {"sgt", "sergeant"},
    {"pfc", "private first class"},
    {"spc", "specialist"},
    {"cpt", "captain"},
    {"lcpl", "lance corporal"},
    {"ssgt", "staff sergeant"},
    {"msgt", "master sergeant"},
    {"sfc", "sergeant first class"},
    {"gov", "governor"},
    {"jr", "junior"},
    {"etc", "et cetera"},
    {"vs", "versus"},
    {"viz", "namely"},
    {"esq", "esquire"},
    {"hon", "honorable"},
    {"dept", "department"},
    {"approx", "approximately"},
    {"ave", "avenue"},
    {"blvd", "boulevard"},
    {"mt", "mount"},
    {"vol", "volume"},
    {"ltd", "limited"},
    {"corp", "corporation"},
    {"eg", "for example"},
    {"ie", "that is"},
    {"e.g", "for example"},
    {"i.e", "that is"},
    {"inc", "incorporated"},
    {"ph.d", "p h d"},
    {"w/o", "without"},
    {"w/", "with"},
    {"w/in", "within"},
    {"b/w", "between"},
    {"c/o", "care of"},
    {"b/c", "because"},
    {"bldg", "building"},
    {"hwy", "highway"},
    {"pkwy", "parkway"},
    {"attn", "attention"},
    {"fwd", "forward"},
    {"intl", "international"},
    {"int'l", "international"},
    {"natl", "national"},
    {"nat'l", "national"},
    {"govt", "government"},
    {"gov't", "government"},
    {"dep't", "department"},
    {"assn", "association"},
    {"ass'n", "association"},
    {"mgr", "manager"},
    {"asst", "assistant"},
    {"qty", "quantity"},
    {"pkg", "package"},
    {"pkgs", "packages"},
    {"misc", "miscellaneous"},
    {"avg", "average"},
    {"incl", "including"},
    {"excl", "excluding"},
    {"doz", "dozen"},
    {"pls", "please"},
    {"plz", "please"},
    {"thx", "thanks"},
    {"thnx", "thanks"},
    {"ppl", "people"},
    {"btw", "by the way"},
    {"tmrw", "tomorrow"},
    {"mgmt", "management"},
    {"acct", "account"},
    {"accts", "accounts"},
    {"xmas", "christmas"},
    {"x-mas", "christmas"},
    {"cmdr", "commander"},
    {"brig", "brigadier"},
    {"sched", "schedule"},
    {"yr", "year"},
    {"yrs", "years"},
    {"wk", "week"},
    {"wks", "weeks"},
    {"omg", "o m g"},
    {"idk", "i d k"},
    {"imo", "in my opinion"},
    {"appt", "appointment"},
    {"appts", "appointments"},
    {"mtg", "meeting"},
    {"mtgs", "meetings"},
    {"mfg", "manufacturing"},
    {"fav", "favorite"},
    {"faves", "favorites"},
    {"msg", "message"},
    {"msgs", "messages"},
    {"amt", "amount"},
    {"lvl", "level"},
    {"svc", "service"},
    {"depts", "departments"},
    {"bldgs", "buildings"},
    {"n/a", "n a"},
    {"y/y", "year on year"},
    {"q/q", "quarter on quarter"},
    {"m/m", "month on month"},
    {"w/w", "week on week"},
    {"yoy", "year over year"},
    {"qoq", "quarter over quarter"},
    {"bdrm", "bedroom"},
    {"bbl", "barrels"},
    {"mln", "million"},
    {"bln", "billion"},
    {"trn", "trillion"},
    {"bdrms", "bedrooms"},
    {"b.sc", "b s c"},
    {"m.sc", "m s c"},
    {"utd", "united"},
    {"mya", "million years ago"},
    {"lmk", "let me know"},
    {"rn", "right now"},
    {"pw", "password"},
    {"ur", "your"},
    {"gr8", "great"},
    {"l8r", "later"},
    {"b4", "before"},
    {"2day", "today"},
    {"2nite", "tonight"},
    {"2morrow", "tomorrow"},
    {"rx", "r x"},
    {"rgds", "regards"},
    {"id", "i d"},
    {"ids", "i d's"},
    {"ctrl", "control"},
    {"cmd", "command"},
    {"rte", "route"},
    {"mktg", "marketing"},
    {"mkt", "market"},
    {"recd", "received"},
    {"rec'd", "received"},
    {"req'd", "required"},
    {"addr", "address"},
    {"pmt", "payment"},
    {"pmts", "payments"},
    {"ofc", "office"},
    {"jct", "junction"},
    {"twp", "township"},
    {"cmte", "committee"},
    {"gov'ts", "governments"},
    {"wknd", "weekend"},
    {"hrly", "hourly"},
    {"cllr", "councillor"},
    {"msgr", "monsignor"},
});

/// Words of their own without a point.
constexpr auto kWithPoint = std::to_array<ShortForm>({
    {"no", "number"},
    {"nos", "numbers"},
    {"gen", "general"},
    {"maj", "major"},
    {"sr", "senior"},
    {"co", "company"},
    {"fig", "figure"},
    {"figs", "figures"},
    {"ch", "chapter"},
    {"chap", "chapter"},
    {"sec", "section"},
    {"sect", "section"},
    {"art", "article"},
    {"pp", "pages"},
    {"p", "page"},
    {"ed", "edition"},
    {"pres", "president"},
    {"rep", "representative"},
    {"sen", "senator"},
    {"adm", "admiral"},
    {"pvt", "private"},
    {"cpl", "corporal"},
    {"supt", "superintendent"},
    {"atty", "attorney"},
    {"apt", "apartment"},
    {"fl", "floor"},
    {"sq", "square"},
    {"pl", "place"},
    {"ct", "court"},
    {"ext", "extension"},
    {"tel", "telephone"},
    {"univ", "university"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"temp", "temperature"},
    {"temps", "temperatures"},
    {"conf", "conference"},
    {"para", "paragraph"},
    {"paras", "paragraphs"},
    {"cf", "compare"},
    {"tab", "table"},
    {"ex", "exercise"},
    {"eq", "equation"},
    {"est", "established"},
    {"par", "paragraph"},
    {"cat", "category"},
    {"ens", "ensign"},
    {"fr", "father"},
    {"amb", "ambassador"},
    {"det", "detective"},
    {"insp", "inspector"},
    {"assoc", "associate"},
    {"dist", "district"},
    {"div", "division"},
    {"dir", "director"},
    {"treas", "treasurer"},
    {"ref", "reference"},
    {"std", "standard"},
    {"orig", "original"},
    {"prev", "previous"},
    {"ret", "retired"},
    {"wt", "weight"},
    {"ht", "height"},
    {"pop", "population"},
    {"vols", "volumes"},
    {"chs", "chapters"},
    {"eqs", "equations"},
    {"refs", "references"},
    {"agg", "aggregate"},
    {"inst", "instant"},
    {"eds", "editors"},
    {"hosp", "hospital"},
    {"mos", "months"},
    {"exp", "expires"},
    {"subj", "subject"},
    {"subsec", "subsection"},
    {"b", "born"},
    {"d", "died"},
    {"esp", "especially"},
    {"ss", "sections"},
    {"cols", "columns"},
    {"sc", "scene"},
    {"rm", "room"},
    {"amdt", "amendment"},
    {"reg", "regular"},
    {"op", "opus"},
    {"lg", "large"},
    {"sm", "small"},
});

/// Short with a capital alone; the states with a point.
constexpr auto kWithCapital = std::to_array<ShortForm>({
    {"Rd", "road"},          {"Ln", "lane"},        {"Ste", "suite"},         {"Esc", "escape"},
    {"Sts", "streets"},      {"Aves", "avenues"},   {"Rds", "roads"},         {"Cres", "crescent"},
    {"Cir", "circle"},       {"Terr", "terrace"},   {"Trl", "trail"},         {"Hts", "heights"},
    {"Xing", "crossing"},    {"Inst", "institute"}, {"Gdns", "gardens"},      {"Calif", "california"},
    {"Conn", "connecticut"}, {"Fla", "florida"},    {"Kan", "kansas"},        {"Mich", "michigan"},
    {"Minn", "minnesota"},   {"Neb", "nebraska"},   {"Nev", "nevada"},        {"Okla", "oklahoma"},
    {"Tenn", "tennessee"},   {"Tex", "texas"},      {"Wis", "wisconsin"},     {"Colo", "colorado"},
    {"Ariz", "arizona"},     {"Ala", "alabama"},    {"Penn", "pennsylvania"}, {"Rm", "room"},
});

/// Of first names, before another name: "Benj. Franklin".
constexpr auto kFirstNames = std::to_array<ShortForm>({{"Benj", "benjamin"},
                                                       {"Chas", "charles"},
                                                       {"Edw", "edward"},
                                                       {"Geo", "george"},
                                                       {"Jas", "james"},
                                                       {"Jos", "joseph"},
                                                       {"Robt", "robert"},
                                                       {"Saml", "samuel"},
                                                       {"Thos", "thomas"},
                                                       {"Wm", "william"}});

template <class Forms>
std::optional<std::string_view> found_in(const Forms& forms, std::string_view word) {
  const auto found = std::ranges::find(forms, word, &ShortForm::written);
  if (found == forms.end()) return std::nullopt;
  return found->words;
}

}  // namespace

std::optional<std::string_view> long_form(std::string_view word, bool has_point, bool next_is_name) {
  const std::string small = ascii_lower(word);
  const bool is_capital = !word.empty() && word.front() >= 'A' && word.front() <= 'Z';
  if (is_capital && small == "st") return next_is_name ? "saint" : "street";
  if (is_capital && small == "dr") return next_is_name || !has_point ? "doctor" : "drive";
  if (word == "Ft" && next_is_name) return "fort";
  if (word == "v" && has_point && next_is_name) return "versus";  // of a case
  if (word == "Fr" && next_is_name) return "father";
  if (has_point && next_is_name) {
    const auto name = found_in(kFirstNames, word);
    if (name) return name;
  }
  if (word == "PCIe") return "p c i e";
  if (word == "NVMe") return "n v m e";
  if (word == "pH") return "p h";
  if (const auto form = found_in(kWithCapital, word); form && (has_point || word.size() <= 3)) return form;
  if (word == "WWI") return "world war one";
  if (word == "WWII") return "world war two";
  if (has_point && word.size() > 3 && ascii_upper(word) == word) {  // "BOULDER, COLO."
    const auto form = found_in(kWithCapital, std::string(1, word.front()) + small.substr(1));
    if (form) return form;
  }
  // What capitals alone spell is no short form: "IE", "CO".
  constexpr auto kTitles =
      std::to_array<std::string_view>({"lt", "col", "capt", "sgt", "gen", "maj", "prof", "rev", "hon", "gov", "sen"});
  const bool is_title = has_point && std::ranges::find(kTitles, small) != kTitles.end();  // "LT. COL."
  const bool all_capitals = word.size() > 1 && small != word && ascii_upper(word) == word && small != "mr" && !is_title;
  if (all_capitals) return std::nullopt;
  if (const auto form = found_in(kAlways, small)) return form;
  return has_point ? found_in(kWithPoint, small) : std::nullopt;
}

std::optional<std::string_view> short_state(std::string_view word) {
  constexpr auto kStates = std::to_array<ShortForm>({{"Ark", "arkansas"},
                                                     {"Del", "delaware"},
                                                     {"Ga", "georgia"},
                                                     {"Ill", "illinois"},
                                                     {"Ind", "indiana"},
                                                     {"Ky", "kentucky"},
                                                     {"La", "louisiana"},
                                                     {"Md", "maryland"},
                                                     {"Mass", "massachusetts"},
                                                     {"Miss", "mississippi"},
                                                     {"Mo", "missouri"},
                                                     {"Mont", "montana"},
                                                     {"Ore", "oregon"},
                                                     {"Pa", "pennsylvania"},
                                                     {"Va", "virginia"},
                                                     {"Vt", "vermont"},
                                                     {"Wash", "washington"},
                                                     {"Wyo", "wyoming"}});
  return found_in(kStates, word);
}

bool is_street_word(std::string_view word) {
  constexpr auto kStreets = std::to_array<std::string_view>(
      {"st",      "street", "ave",      "avenue",   "rd",  "road",  "blvd", "boulevard", "ln",      "lane", "dr",
       "drive",   "way",    "ct",       "court",    "pl",  "place", "sq",   "square",    "terrace", "hwy",  "highway",
       "parkway", "pkwy",   "broadway", "crescent", "row", "rt",    "rte",  "route",     "sts",     "aves", "rds",
       "cres",    "cir",    "circle",   "terr",     "trl", "trail", "gdns", "gardens"});
  return std::ranges::find(kStreets, ascii_lower(word)) != kStreets.end();
}

std::optional<std::string_view> scale_name(std::string_view text) {
  constexpr std::array<ShortForm, 18> kScales{{{"hundred", "hundred"},
                                               {"lakh", "lakh"},
                                               {"crore", "crore"},
                                               {"thousand", "thousand"},
                                               {"k", "thousand"},
                                               {"million", "million"},
                                               {"mil", "million"},
                                               {"m", "million"},
                                               {"mn", "million"},
                                               {"mln", "million"},
                                               {"bln", "billion"},
                                               {"trn", "trillion"},
                                               {"billion", "billion"},
                                               {"b", "billion"},
                                               {"bn", "billion"},
                                               {"trillion", "trillion"},
                                               {"t", "trillion"},
                                               {"tn", "trillion"}}};
  return found_in(kScales, ascii_lower(text));
}

}  // namespace tutti
