/* Colours and rules of the report's page. */

const LIGHT = ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#65a30d", "#92400e", "#475569"];
const DARK = ["#60a5fa", "#fbbf24", "#34d399", "#f87171", "#a78bfa", "#22d3ee", "#f472b6", "#a3e635", "#d6a77a", "#94a3b8"];

const colours = (list: readonly string[]) => list.map((c, i) => `--s${i}:${c}`).join(";");

/** The page's rules, for light and dark. */
export const STYLE = `
:root{--ink:#16202c;--muted:#5b6776;--grid:#e4e8ee;--page:#f7f8fa;--panel:#fff;--edge:#dde2e9;${colours(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf2;--muted:#9aa7b8;--grid:#2a3441;--page:#0e141b;--panel:#161e28;--edge:#2a3441;${colours(DARK)}}}
${LIGHT.map((_, i) => `.s${i}{--c:var(--s${i})}`).join("")}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
header,main,footer{max-width:1010px;margin:0 auto;padding:0 20px}
header{padding-top:36px}h1{font-size:28px;letter-spacing:-.02em;margin:0}h2{font-size:20px;margin:40px 0 8px}h3{font-size:16px;margin:26px 0 4px}
header p,footer,section>p{color:var(--muted)}section>p{max-width:74ch}
footer{font-size:13px;padding-bottom:40px}
figure{margin:18px 0;padding:16px 18px;background:var(--panel);border:1px solid var(--edge);border-radius:10px;break-inside:avoid}
figcaption{font-weight:600;margin-bottom:10px}
svg{display:block;width:100%;height:auto;font-size:12px}
figure{overflow-x:auto}svg[viewBox^="0 0 920"]{min-width:640px}
.pair{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(420px,100%),1fr));gap:0 18px}
.keys{display:flex;flex-wrap:wrap;gap:4px 18px;max-width:none}.key{display:inline-flex;align-items:center;gap:6px}.key svg{width:14px}
text{fill:var(--ink)}.tick,.axis{fill:var(--muted)}.note{fill:var(--muted);font-size:11px}.value{font-variant-numeric:tabular-nums}
.letter{font-size:11px;font-weight:600}.absent{fill:var(--muted);font-size:11px;font-style:italic}
.grid{stroke:var(--grid)}.roof{fill:none;stroke:var(--ink);stroke-width:1.6}
.curve{fill:none;stroke:var(--c);stroke-width:2}.marker{fill:var(--c);stroke:var(--panel);stroke-width:1}
.byhand{stroke:var(--ink);stroke-width:2.5}
.error{stroke:var(--c);stroke-width:1.4}.bar{fill:var(--c)}.tile{fill:var(--c);fill-opacity:.24}.pale{fill-opacity:.5}.goal{fill:var(--s2);fill-opacity:.16}.whisker{stroke:var(--ink);stroke-width:1.6}
.scroll{overflow-x:auto;margin:18px 0}
table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums}
caption{text-align:left;white-space:nowrap;font-weight:600;padding:6px 0}
th,td{padding:4px 12px;text-align:right;border-bottom:1px solid var(--edge);white-space:nowrap}
th{color:var(--muted);font-weight:600}.words{text-align:left}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:14px 0}a{color:inherit}
details.chapter{border-top:1px solid var(--edge);padding:6px 0}details.chapter>summary{font-size:20px;font-weight:600;cursor:pointer;padding:8px 0}
details.tables>summary{cursor:pointer;color:var(--muted);padding:6px 0}
.letters{display:flex;flex-wrap:wrap;gap:4px 18px;margin:12px 0}.letters b{display:inline-block;min-width:22px;padding:0 5px;margin-right:6px;border-radius:3px;text-align:center;font-size:12px;background:color-mix(in srgb,var(--c) 24%,transparent)}
@media print{body{background:#fff}figure{border-color:#ccc}}
`;
