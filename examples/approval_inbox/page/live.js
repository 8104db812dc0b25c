// What changes, as it does. Whenever there is a connection again, everything is read anew, so nothing is missed.

/** How long to leave the program alone when it has refused to tell, in milliseconds. */
const PAUSE = 5000;

/** Listens for ever. `heard` has a function for each kind of message, and `opened` and `lost`. */
export function listen(heard) {
  const source = new EventSource("/api/live");
  source.onopen = heard.opened;
  for (const kind of ["approval", "mandate", "connection", "behind"]) {
    source.addEventListener(kind, (event) => heard[kind](JSON.parse(event.data)));
  }
  source.onerror = () => {
    heard.lost();
    // Otherwise the browser tries again by itself.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(heard), PAUSE);
  };
}
