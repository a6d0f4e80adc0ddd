export declare function canIsolate(): boolean;
export declare function installBubblewrap(): void;
