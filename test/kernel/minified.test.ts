import assert from "node:assert/strict";
import { it } from "node:test";
import { f64, kernel, u32, view } from "isoform";
import { grid } from "../random/memory.js";
import { agrees, doubles, refusal } from "./lowered.js";

/** A kernel of code that tools have written. */
const written = (code: string) =>
  kernel(
    "k",
    { x: view(f64), y: view(f64) },
    new Function(`const cov_1x2y = () => ({ f: [0], s: [0, 0, 0], b: [[0, 0]] }); return ${code}`)() as never,
  );
const memory = () => ({ x: doubles(1, 2, 3), y: doubles(0, 0, 0) });

it("what minifiers leave of locals that nobody reads is accepted", () => {
  for (const code of [
    "({x:n,y:e},t)=>{n[t]*2,e[t]=1}",
    "({ x, y }, i) => {\n  x[i] * 2;\n  x[i];\n  y[i] = 1;\n}",
    "({x:n,y:e},t)=>{n[t]*2;for(let o=0;o<2;o++)e[t]+=o}",
    "({x:n,y:e},t)=>{n[t]>1?e[t]=1:n[t];-n[t];e[t]+=(n[t],3)}",
    "({x:n,y:e},t)=>{n[t],e[t]=(e[t]+=2,n[t]*e[t])}",
  ])
    assert.notDeepEqual([...agrees(written(code), memory()).y.data], [0, 0, 0], code);
});

it("a number that is cut to an integer may stand behind the zero", () => {
  for (const code of [
    "({x:n,y:e},t)=>{e[t]=0|Math.floor(n[t]*1.7)}",
    "({x:n,y:e},t)=>{e[t]=0|n[t]*1.7}",
    "({x:n,y:e},t)=>{e[t]=(0|n[t]*1.7|8)+(0|-n[t]/2)}",
    "({x:n,y:e},t)=>{const r=0|7*t/3;e[t]=r}",
    "({x:n,y:e},t)=>{e[t]=0|t+1;e[t]+=0|(n[t]>1?n[t]:.5)}",
  ])
    agrees(written(code), memory());
});

it("quotients of integers are fractions, since minifiers leave the plus of +a / b away", () => {
  for (const code of [
    "({x:n,y:e},t)=>{e[t]=(t+1)/(t+3)}",
    // Numbers beyond 32 bits, as with the plus; but not where they were cut.
    "({x:n,y:e},t)=>{e[t]=-2+2e9*t*2/(t+3)}",
    "({x:n,y:e},t)=>{e[t]=(2e9*t*2|0)/(t+3)-(t-7)/-(t+1)}",
    "({x:n,y:e},t)=>{let r=1e3*t;e[t]=n[t]*(r/7)+t/4}",
  ])
    agrees(written(code), memory());
  assert.match(refusal(written("({ x, y }, i) => { y[i] = i / (i + 3); }")).message, /integers are divided/);
});

it("sums and products of integers are exact where they become f64, since minifiers leave the plus of +a * b away", () => {
  const words = (code: string) => kernel("k", { w: view(u32), y: view(f64) }, new Function(`return ${code}`)() as never);
  const large = () => ({ w: grid("u32", [3], [4e9, 4294967295, 7]), y: doubles(0, 0, 0) });
  for (const code of [
    "({w:n,y:e},t)=>{e[t]=n[t]*3}",
    "({w:n,y:e},t)=>{e[t]=.5+(n[t]+n[t])*n[t]}",
    "({w:n,y:e},t)=>{e[t]=Math.sqrt(n[t]*n[t])+(n[t]-2>3?1:2)}",
    // Cut to 32 bits by the author.
    "({w:n,y:e},t)=>{e[t]=(3*n[t]>>>0)+(n[t]*5>>>0)*2}",
    "({w:n,y:e},t)=>{e[t]=2147483647*t*2}",
  ])
    agrees(words(code), large());
});

it("truth values beside numbers are 0 and 1, unless they may be something else in JavaScript", () => {
  for (const code of [
    "({x:n,y:e},t)=>{e[t]=n[t]>1==1?2:3}",
    "({x:n,y:e},t)=>{for(let r=0;r<3;r++)0!=!(n[t]>r)&&(e[t]+=1)}",
    "({x:n,y:e},t)=>{e[t]=!!(n[t]-2)*n[t]-(n[t]>1&&n[t]<3)}",
  ])
    agrees(written(code), memory());
  for (const code of ["({x:n,y:e},t)=>{e[t]=(n[t]||2)*3}", "({x:n,y:e},t)=>{e[t]=(n[t]>1&&n[t])*3}"])
    assert.match(refusal(written(code)).message, /bool and \w+ cannot be combined/);
});

it("a truth value may be assigned by &&= and ||=", () => {
  for (const code of [
    "({x:n,y:e},t)=>{let r=!0;for(let o=1;o<3;o++)r&&=n[t]>o;e[t]=r?1:2}",
    "({x:n,y:e},t)=>{let r=!1,o;r||=n[t]>1,o=r&&=n[t]<3,e[t]=r||o?1:2}",
    // The right side is evaluated where it counts.
    "({x:n,y:e},t)=>{let r=n[t]>1,o=0;r&&=(o=5,n[t]<3);e[t]=o+(r?1:2)}",
  ])
    agrees(written(code), memory());
  assert.match(refusal(written("({x:n,y:e},t)=>{e[t]&&=n[t]}")).message, /&&= is not part of the kernel language \(write if\)/);
});

it("|| of numbers is no number", () => {
  for (const code of ["({ x, y }, i) => { y[i] = +(x[i] || 2); }", "({ x, y }, i) => { y[i] = +(x[i] > 1 && (y[i] || x[i])); }"])
    assert.match(refusal(written(code)).message, /\|\| and && of numbers give a truth value here \(write x \? x : y/);
  agrees(written("({ x, y }, i) => { y[i] = +(x[i] > 1 || y[i] > 2); }"), memory());
});

it("a number before a bit operation is cut, since minifiers leave its zero away", () => {
  for (const code of ["({x:n,y:e},t)=>{e[t]=n[t]*1.7&3}", "({x:n,y:e},t)=>{e[t]=1<<n[t]*.7^n[t]/-2}", "({x:n,y:e},t)=>{e[t]=t^(t+7)/3}"])
    agrees(written(code), memory());
});

it("comparisons that were to be assignments are refused", () => {
  for (const code of ["({ x, y }, i) => { y[i] == 1; }", "({ x, y }, i) => { if (x[i] > 1) y[i] === 1; }"])
    assert.match(refusal(written(code)).message, /this statement has no effect \(assign its value\)/);
});

it("counters of coverage are left out", () => {
  const code = `({ x, y }, i) => {
    /* istanbul ignore next */ cov_1x2y().f[0]++;
    cov_1x2y().s[0]++;
    if ((cov_1x2y().s[1]++, x[i] > 1)) { cov_1x2y().b[0][0]++; y[i] = 2; } else { cov_1x2y().b[0][1]++; }
    y[i] += (cov_1x2y().s[2]++, 1);
  }`;
  assert.deepEqual([...agrees(written(code), memory()).y.data], [1, 3, 3]);
});

it("a name that is not known in minified code names minification", () => {
  const k = kernel(
    "k",
    { y: view(f64) },
    new Function("return ({y:e},n)=>{e[n]=q(n)}")() as never,
    new Function("return ()=>[]")() as never,
  );
  assert.match(refusal(k).message, /captures "q".*the code is minified, .* helper\(fn, \(\) => \[\.\.\.\]\)/);
});

it("names of inner blocks hide those around them, which stay as they are", () => {
  for (const code of [
    "({x:n,y:e},t)=>{for(let r=0;r<2;r++){e[t]+=r;for(let r=0;r<3;r++)e[t]+=n[t]*r}}",
    "({x:n,y:e},t)=>{const f=(r,o)=>{let i=0;for(let r=0;r<3;r++)i+=o*r;return i+r};e[t]=f(n[t],2)}",
    "({x:n,y:e},t)=>{const f=r=>{{let r=1;r+=2;e[t]=r}r+=1;return r};e[t]+=f(n[t])}",
    "({x:n,y:e},t)=>{for(let r=0;r<4;r++){{let[r,o]=[1,2];r+=o;e[t]+=r}r+=1;e[t]+=r}}",
  ])
    assert.notDeepEqual([...agrees(written(code), memory()).y.data], [0, 0, 0], code);
});
