// The visible range of positions: all results, the newest ones, or a range that the user chose.

const STEP = 0.25; // how far ← and → move, as a share of the range
const FACTOR = 2; // of + and −
const LEAST = 1e-9; // the shortest range, as a share of the position: below it, floats run out

export class View {
    mode = "all";
    from = 0;
    to = 1;
    bounds = null;

    /** Choose a mode, or a range. */
    set(mode, from = this.from, to = this.to) {
        this.mode = mode;
        if (mode === "fixed") [this.from, this.to] = this.#fit(from, to);
    }

    /** Take over what an answer says about its range and about all results. */
    answered({ from, to, bounds }) {
        this.bounds = bounds;
        if (this.mode === "all" && bounds) [this.from, this.to] = [from, to];
    }

    contains(at) {
        return this.from <= at && at < this.to;
    }

    /** Move on to the newest result; return whether the line can have changed. */
    grow(latest) {
        if (latest === null) return false;
        if (this.bounds && latest > this.bounds[1]) this.bounds = [this.bounds[0], latest];
        if (this.mode === "follow") this.#toNewest();
        return this.mode !== "fixed" || latest <= this.to;
    }

    /** One step of a button or a key. */
    move(name) {
        const span = this.to - this.from;
        if (name === "all") return this.set("all");
        if (name === "follow") {
            if (this.mode === "all") this.from = this.to - span / 4;
            this.mode = "follow";
            return this.#toNewest();
        }
        if (name === "earlier") return this.set("fixed", this.from - STEP * span, this.to - STEP * span);
        if (name === "later") return this.set("fixed", this.from + STEP * span, this.to + STEP * span);
        const isFollowing = this.mode === "follow";
        this.zoom(name === "in" ? 1 / FACTOR : FACTOR, isFollowing ? 1 : 0.5);
        if (isFollowing && this.mode === "fixed") this.mode = "follow";
    }

    /** Make the range longer or shorter; the position at `share` of the width stays where it is. */
    zoom(factor, share) {
        const at = this.from + share * (this.to - this.from);
        const [from, to] = [at - (at - this.from) * factor, at + (this.to - at) * factor];
        const isAll = this.bounds && factor > 1 && from <= this.bounds[0] && to > this.bounds[1];
        this.set(isAll ? "all" : "fixed", from, to);
    }

    #toNewest() {
        if (!this.bounds) return;
        const span = this.to - this.from;
        this.to = this.bounds[1] + span / 50;
        this.from = this.to - span;
    }

    #fit(from, to) {
        const least = Math.max(Math.abs(to) * LEAST, 1e-6);
        if (to - from >= least) return [from, to];
        const middle = (from + to) / 2;
        return [middle - least / 2, middle + least / 2];
    }
}
