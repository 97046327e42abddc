// The time as the page shows it: ages and day headers, in the reader's own language and time zone.

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

class Clock {
  now = $state(Date.now());

  start(): void {
    setInterval(() => (this.now = Date.now()), 20_000);
    document.addEventListener('visibilitychange', () => (this.now = Date.now()));
  }
}

export const clock = new Clock();

const relative = new Intl.RelativeTimeFormat(undefined, { style: 'narrow' });
const named = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'long' });
const dayAndMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const longDate = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const dateWithYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** "now", "5 min ago", "3 hr ago", "2 days ago", then the date. Never "yesterday": that is for the calendar to say. */
export function age(time: string, now: number): string {
  const past = Math.max(0, now - Date.parse(time));
  if (Number.isNaN(past)) return '';
  if (past < minute) return named.format(0, 'second');
  if (past < hour) return relative.format(-Math.floor(past / minute), 'minute');
  if (past < day) return relative.format(-Math.floor(past / hour), 'hour');
  if (past < 7 * day) return relative.format(-Math.floor(past / day), 'day');
  const date = new Date(time);
  return (date.getFullYear() === new Date(now).getFullYear() ? dayAndMonth : dateWithYear).format(date);
}

export function exactTime(time: string): string {
  const date = Date.parse(time);
  return Number.isNaN(date) ? '' : exact.format(date);
}

export const clockTime = (time: string) => timeOfDay.format(new Date(time));

/** Days between two moments, by the calendar and not by 24 hours. */
function calendarDays(from: Date, to: Date): number {
  const start = Date.UTC(from.getFullYear(), from.getMonth(), from.getDate());
  return Math.round((Date.UTC(to.getFullYear(), to.getMonth(), to.getDate()) - start) / day);
}

/** The header of the day that `time` falls on: Today, Yesterday, a weekday, a date. */
export function dayName(time: number, now: number): string {
  const date = new Date(time);
  const ago = calendarDays(date, new Date(now));
  if (ago <= 1) return capitalised(named.format(-Math.max(0, ago), 'day'));
  if (ago < 7) return capitalised(weekday.format(date));
  if (date.getFullYear() === new Date(now).getFullYear()) return capitalised(longDate.format(date));
  return dateWithYear.format(date);
}

const capitalised = (text: string) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
