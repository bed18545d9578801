#pragma once

#include "text/speech/english_cursor.h"

namespace tutti {

// Dates, times of day and weekdays, written out. Each function writes what begins at the next token and stands on the
// last token of it afterwards. False where there is none of its kind; nothing has changed then.

/// "May 5, 1863", "Nov. 3", "5 May 1863", "1863-05-01", "5/1/1863", "1.5.1863".
bool read_date(EnglishCursor& text);

/// "10:30", "10:05:09", "7:45pm", "7 p.m.", "10:30-11:45".
bool read_time(EnglishCursor& text);

/// "Mon. 5 May", "Mon-Fri". "Sun." is a word at the text's end and where the next sentence begins.
bool read_weekday(EnglishCursor& text);

}  // namespace tutti
